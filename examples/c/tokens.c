// Batches of sequences of different length: the first steps of one rank, one in a line, and the state after them.
//
// The component does not hold the lengths of a dataset. It asks for the lengths that a call needs, and then the call is
// repeated.
#include "host.h"

/// The length of a sample, in tokens. It stands for a file or an array of yours.
static uint32_t length_of(uint64_t sample) { return 1 + (uint32_t)(sample % 50); }

/// Passes the lengths that an object wants; the object is a `batch-recipe` or a `batcher`. Returns the number of
/// lengths.
static size_t supply(struct host *host, const char *wanted, const char *supplied, const value *object) {
    value samples = host_demand(host, "batches", wanted, object, 1);
    size_t count = samples.of.list.size;
    if (count) {
        value *lengths = (value *)malloc(count * sizeof *lengths);
        if (!lengths) stop("no memory for the lengths");
        for (size_t i = 0; i < count; i++) lengths[i] = as_u32(length_of(samples.of.list.data[i].of.u64));
        value arguments[] = {*object, as_list(lengths, count)};
        host_demand(host, "batches", supplied, arguments, 2);
        free(lengths);
    }
    wasmtime_component_val_delete(&samples);
    return count;
}

/// Calls a function of a batcher, which is the first argument, until it wants no more lengths.
static value answer(struct host *host, const char *function, const value *arguments, size_t count) {
    value result;
    while (!host_call(host, "batches", function, arguments, count, &result)) {
        if (!host_failed_with(host, "wanted")) {
            host_print_failure(host, stderr);
            exit(EXIT_FAILURE);
        }
        size_t given = supply(host, "[method]batcher.wanted", "[method]batcher.supply", arguments);
        fprintf(stderr, "%s wants %zu lengths\n", function, given);
    }
    return result;
}

/// A list of a record, by its name.
static const wasmtime_component_vallist_t *column(const value *record, const char *name) {
    for (size_t i = 0; i < record->of.record.size; i++) {
        const wasmtime_component_valrecord_entry_t *entry = &record->of.record.data[i];
        if (entry->name.size == strlen(name) && !memcmp(entry->name.data, name, entry->name.size))
            return &entry->val.of.list;
    }
    stop(name);
    return NULL;
}

int main(int count, char **words) {
    if (count != 6 && count != 7) stop("Usage: tokens COMPONENT RECIPE EPOCH RANK STEPS [STATE]");
    uint64_t epoch = number(words[3], UINT64_MAX), rank = number(words[4], UINT32_MAX), steps = number(words[5], UINT32_MAX);
    struct host host;
    host_open(&host, words[1], 1 << 30);

    value options[] = {as_text(words[2]), as_none(), as_list(NULL, 0)};
    value recipe = host_demand(&host, "batches", "[constructor]batch-recipe", options, 3);
    size_t first = supply(&host, "[method]batch-recipe.wanted", "[method]batch-recipe.supply", &recipe);
    fprintf(stderr, "the recipe wants %zu lengths\n", first);
    value of[] = {recipe, as_u64(epoch)};
    value batcher = host_demand(&host, "batches", "[constructor]batcher", of, 2);
    if (count == 7) {
        // Objects never change, so the rest of an epoch is another batcher.
        value from[] = {batcher, as_text(words[6])};
        value rest = host_demand(&host, "batches", "[method]batcher.resume", from, 2);
        host_drop(&host, &batcher);
        batcher = rest;
    }

    value known = answer(&host, "[method]batcher.num-steps", &batcher, 1);
    printf("%" PRIu64 " steps\n", known.of.u64);
    value range[] = {batcher, as_u32(rank), as_u64(0), as_u32(steps)};
    value taken = answer(&host, "[method]batcher.take", range, 4);
    const wasmtime_component_vallist_t *samples = column(&taken, "samples"), *rows = column(&taken, "row-ends");
    const wasmtime_component_vallist_t *batches = column(&taken, "batch-ends");
    size_t item = 0;
    for (size_t i = 0; i < batches->size; i++) {
        // The last row of a batch ends with the batch, and the last item of a row ends with the row.
        uint32_t row_end = batches->data[i].of.u32;
        size_t end = row_end ? rows->data[row_end - 1].of.u32 : 0;
        for (const char *space = ""; item < end; item++, space = " ") printf("%s%" PRIu64, space, samples->data[item].of.u64);
        putchar('\n');
    }
    value reached[] = {batcher, as_u64(steps)};
    value state = answer(&host, "[method]batcher.state", reached, 2);
    printf("%.*s\n", (int)state.of.string.size, state.of.string.data);

    wasmtime_component_val_delete(&state);
    wasmtime_component_val_delete(&taken);
    host_drop(&host, &batcher);
    host_drop(&host, &recipe);
    host_close(&host);
    return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
