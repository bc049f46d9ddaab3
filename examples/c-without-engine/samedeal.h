// Shorter names for the functions that wasm2c makes of samedeal.wasm.
#pragma once
#include "dist/core.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the memory of WebAssembly is little-endian: this program copies it as it is"
#endif

// wasm2c writes every character of a name that C does not allow as a number, such as 0x2E for a dot.
#define SAMPLING(name) w2c_core_samedeal0x3Adeal0x2Fsampling0x4000x2E10x2E00x23##name
/// The function that frees the memory of a result.
#define FREE(name) w2c_core_cabi_post_samedeal0x3Adeal0x2Fsampling0x4000x2E10x2E00x23##name
#define IMPORT(interface, name) w2c_0x5Bexport0x5Dsamedeal0x3Adeal0x2F##interface##0x4000x2E10x2E0##name

#define new_sampler SAMPLING(0x5Bconstructor0x5Dsampler)
#define free_new_sampler FREE(0x5Bconstructor0x5Dsampler)
#define drop_sampler SAMPLING(0x5Bdtor0x5Dsampler)
#define num_batches SAMPLING(0x5Bmethod0x5Dsampler0x2Enum0x2Dbatches)
#define free_num_batches FREE(0x5Bmethod0x5Dsampler0x2Enum0x2Dbatches)
#define get_batch SAMPLING(0x5Bmethod0x5Dsampler0x2Ebatch)
#define free_get_batch FREE(0x5Bmethod0x5Dsampler0x2Ebatch)

/// Makes a new instance. Each interface with objects may have a table of handles; this program needs none.
#define instantiate(core) wasm2c_core_instantiate(core, 0, 0, 0, 0, 0, 0, 0, 0)

/// The functions that make and drop handles of a resource, as a host has them: a handle of an object is the object itself. This
/// program passes no object to other components.
#define HANDLES(interface, resource)                                                                        \
    u32 IMPORT(interface, _0x5Bresource0x2Dnew0x5D##resource)(struct IMPORT(interface, ) * none, u32 object) { \
        return (void)none, object;                                                                           \
    }                                                                                                        \
    void IMPORT(interface, _0x5Bresource0x2Ddrop0x5D##resource)(struct IMPORT(interface, ) * none, u32 handle) { \
        (void)none, (void)handle;                                                                            \
    }

HANDLES(batches, batch0x2Drecipe)
HANDLES(batches, batch0x2Dstream)
HANDLES(batches, batcher)
HANDLES(ledger, client)
HANDLES(ledger, client0x2Doptions)
HANDLES(ledger, ledger)
HANDLES(mesh, mesh)
HANDLES(readings, reading)
HANDLES(sampling, sampler)
HANDLES(shards, chunk0x2Dstream)
HANDLES(shards, plan)
HANDLES(splits, exact0x2Dsizes)
HANDLES(splits, split)
HANDLES(steps, schedule)
