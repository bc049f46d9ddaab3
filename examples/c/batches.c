// All batches of one rank, one in a line.
#include "host.h"

int main(int count, char **words) {
    if (count != 6) stop("Usage: batches COMPONENT RECIPE EPOCH RANK BATCH_SIZE");
    uint64_t epoch = number(words[3], UINT64_MAX), rank = number(words[4], UINT32_MAX), size = number(words[5], UINT32_MAX);
    struct host host;
    host_open(&host, words[1], 1 << 30);

    value options[] = {as_text(words[2]), as_list(NULL, 0), as_u64(epoch), as_u32(rank)};
    value sampler = host_demand(&host, "sampling", "[constructor]sampler", options, 4);
    value whole[] = {sampler, as_u32(size), as_boolean(false)};
    value batches = host_demand(&host, "sampling", "[method]sampler.num-batches", whole, 3);
    for (uint64_t at = 0; at < batches.of.u64; at++) {
        value arguments[] = {sampler, as_u64(at), as_u32(size), as_boolean(false)};
        value batch = host_demand(&host, "sampling", "[method]sampler.batch", arguments, 4);
        const wasmtime_component_vallist_t *list = &batch.of.list;
        for (size_t i = 0; i < list->size; i++) printf("%s%" PRIu64, i ? " " : "", list->data[i].of.u64);
        putchar('\n');
        wasmtime_component_val_delete(&batch);
    }

    host_drop(&host, &sampler);
    host_close(&host);
    return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
