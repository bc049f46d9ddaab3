// Prints all batches of one rank, one in a line. wasm2c has turned samedeal.wasm into C, so no WebAssembly engine is needed.
//
// The canonical ABI of these calls: a text is passed as its address in the memory of WebAssembly and its length. A result is the address
// of a byte in this memory, which is 0 if the call succeeded; after it comes the value or the failure, aligned as its type needs. A list
// is an address and a length.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "samedeal.h"

static void stop(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

/// A number of 32 or 64 bits from the command line.
static u64 number(const char *text, u64 most) {
    char *end;
    u64 found = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || found > most) {
        fprintf(stderr, "%s is no whole number of 0 to %" PRIu64 "\n", text, most);
        exit(EXIT_FAILURE);
    }
    return found;
}

/// A place in the memory of WebAssembly. Another call may move this memory, so do not keep the pointer.
static const u8 *at(w2c_core *core, u32 address) { return w2c_core_memory(core)->data + address; }

static u32 read32(w2c_core *core, u32 address) {
    u32 found;
    memcpy(&found, at(core, address), sizeof found);
    return found;
}

static u64 read64(w2c_core *core, u32 address) {
    u64 found;
    memcpy(&found, at(core, address), sizeof found);
    return found;
}

/// The address of the value in a result; `alignment` is the alignment of the value. A failure ends the program: it is a record with the texts `kind`, `field`,
/// `path`, `value` and `allowed`, in this order, and a list of facts.
static u32 value_of(w2c_core *core, u32 result, u32 alignment) {
    u32 value = result + alignment;
    if (*at(core, result) == 0) return value;
    u32 texts[10];
    memcpy(texts, at(core, value), sizeof texts);
    fprintf(stderr, "%.*s is %.*s; allowed: %.*s\n", (int)texts[5], (const char *)at(core, texts[4]), (int)texts[7],
            (const char *)at(core, texts[6]), (int)texts[9], (const char *)at(core, texts[8]));
    exit(EXIT_FAILURE);
}

/// Copies a text into the memory of WebAssembly. The function that it is passed to frees it.
static u32 pass(w2c_core *core, const char *text) {
    u32 length = (u32)strlen(text), address = w2c_core_cabi_realloc(core, 0, 0, 1, length);
    memcpy(w2c_core_memory(core)->data + address, text, length);
    return address;
}

int main(int count, char **words) {
    if (count != 5) stop("Usage: batches RECIPE EPOCH RANK BATCH_SIZE");
    const char *recipe = words[1];
    u64 epoch = number(words[2], UINT64_MAX);
    u32 rank = (u32)number(words[3], UINT32_MAX), size = (u32)number(words[4], UINT32_MAX);

    wasm_rt_init();
    w2c_core core;
    instantiate(&core);

    // The list of lists is empty. Its address must be aligned and not 0, and is not read.
    u32 made = new_sampler(&core, pass(&core, recipe), (u32)strlen(recipe), 8, 0, epoch, rank);
    u32 sampler = read32(&core, value_of(&core, made, 4));
    free_new_sampler(&core, made);
    u32 counted = num_batches(&core, sampler, size, 0);
    u64 batches = read64(&core, value_of(&core, counted, 8));
    free_num_batches(&core, counted);
    for (u64 number = 0; number < batches; number++) {
        u32 batch = get_batch(&core, sampler, number, size, 0);
        u32 list = value_of(&core, batch, 4), first = read32(&core, list), length = read32(&core, list + 4);
        for (u32 i = 0; i < length; i++) printf("%s%" PRIu64, i ? " " : "", read64(&core, first + 8 * i));
        putchar('\n');
        free_get_batch(&core, batch);
    }

    drop_sampler(&core, sampler);
    wasm2c_core_free(&core);
    wasm_rt_free();
    return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
