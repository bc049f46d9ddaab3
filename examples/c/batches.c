// All batches of one rank, one in a line: samedeal.wasm under wasmtime, through the C API for components.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wasmtime.h>

typedef wasmtime_component_val_t value;

/// An instance of the component, with the values that every call needs.
struct deal {
    wasmtime_context_t *context;
    wasmtime_component_instance_t instance;
    wasmtime_component_export_index_t *sampling;
};

static void stop(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

/// Ends the program if the engine says that something failed, such as a file that is no component.
static void check(wasmtime_error_t *error) {
    if (error == NULL) return;
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    fprintf(stderr, "wasmtime: %.*s\n", (int)message.size, message.data);
    exit(EXIT_FAILURE);
}

/// A number of 32 or 64 bits from the command line.
static uint64_t number(const char *text, uint64_t most) {
    char *end;
    uint64_t found = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || found > most) {
        fprintf(stderr, "%s is no whole number of 0 to %" PRIu64 "\n", text, most);
        exit(EXIT_FAILURE);
    }
    return found;
}

static value of_kind(wasmtime_component_valkind_t kind) {
    value made;
    memset(&made, 0, sizeof made);
    made.kind = kind;
    return made;
}

static value u32(uint64_t of) {
    value made = of_kind(WASMTIME_COMPONENT_U32);
    made.of.u32 = (uint32_t)of;
    return made;
}

static value u64(uint64_t of) {
    value made = of_kind(WASMTIME_COMPONENT_U64);
    made.of.u64 = of;
    return made;
}

static value boolean(bool of) {
    value made = of_kind(WASMTIME_COMPONENT_BOOL);
    made.of.boolean = of;
    return made;
}

/// A value for a text whose memory the caller keeps.
static value string(char *of) {
    value made = of_kind(WASMTIME_COMPONENT_STRING);
    made.of.string.size = strlen(of);
    made.of.string.data = of;
    return made;
}

/// Prints the error of a call: a record with the texts `kind`, `field`, `path`, `value` and `allowed`, in this
/// order, and a list of facts.
static void fail(const wasmtime_component_valrecord_t *failure) {
    const wasm_name_t *path = &failure->data[2].val.of.string, *given = &failure->data[3].val.of.string;
    const wasm_name_t *allowed = &failure->data[4].val.of.string;
    fprintf(stderr, "%.*s is %.*s; allowed: %.*s\n", (int)path->size, path->data, (int)given->size, given->data,
            (int)allowed->size, allowed->data);
    exit(EXIT_FAILURE);
}

/// Calls a function of the interface that returns a result. What it returns belongs to the caller, who frees it with
/// `wasmtime_component_val_free`.
static value *call(const struct deal *deal, const char *name, const value *arguments, size_t count) {
    wasmtime_component_export_index_t *index =
        wasmtime_component_instance_get_export_index(&deal->instance, deal->context, deal->sampling, name, strlen(name));
    wasmtime_component_func_t function;
    if (!index || !wasmtime_component_instance_get_func(&deal->instance, deal->context, index, &function)) stop(name);
    wasmtime_component_export_index_delete(index);
    value result = boolean(false);
    check(wasmtime_component_func_call(&function, deal->context, arguments, count, &result, 1));
    if (!result.of.result.is_ok) fail(&result.of.result.val->of.record);
    return result.of.result.val;
}

static wasm_byte_vec_t read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) stop(path);
    long size = ftell(file);
    wasm_byte_vec_t bytes;
    wasm_byte_vec_new_uninitialized(&bytes, size > 0 ? (size_t)size : 0);
    rewind(file);
    if (fread(bytes.data, 1, bytes.size, file) != bytes.size) stop(path);
    fclose(file);
    return bytes;
}

int main(int count, char **words) {
    if (count != 6) stop("Usage: batches COMPONENT RECIPE EPOCH RANK BATCH_SIZE");
    uint64_t epoch = number(words[3], UINT64_MAX), rank = number(words[4], UINT32_MAX), size = number(words[5], UINT32_MAX);

    wasm_engine_t *engine = wasm_engine_new();
    wasm_byte_vec_t bytes = read_file(words[1]);
    wasmtime_component_t *component;
    check(wasmtime_component_new(engine, (const uint8_t *)bytes.data, bytes.size, &component));
    wasm_byte_vec_delete(&bytes);

    // The component imports nothing: the linker stays empty.
    wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
    wasmtime_component_linker_t *linker = wasmtime_component_linker_new(engine);
    struct deal deal;
    deal.context = wasmtime_store_context(store);
    check(wasmtime_component_linker_instantiate(linker, deal.context, component, &deal.instance));
    const char *sampling = "samedeal:deal/sampling@0.1.0";
    deal.sampling = wasmtime_component_get_export_index(component, NULL, sampling, strlen(sampling));
    if (!deal.sampling) stop("this component has no interface sampling");

    value options[] = {string(words[2]), of_kind(WASMTIME_COMPONENT_LIST), u64(epoch), u32(rank)};
    value *sampler = call(&deal, "[constructor]sampler", options, 4);
    value whole[] = {*sampler, u32(size), boolean(false)};
    value *batches = call(&deal, "[method]sampler.num-batches", whole, 3);
    for (uint64_t at = 0; at < batches->of.u64; at++) {
        value arguments[] = {*sampler, u64(at), u32(size), boolean(false)};
        value *batch = call(&deal, "[method]sampler.batch", arguments, 4);
        const wasmtime_component_vallist_t *list = &batch->of.list;
        for (size_t i = 0; i < list->size; i++) printf("%s%" PRIu64, i ? " " : "", list->data[i].of.u64);
        putchar('\n');
        wasmtime_component_val_free(batch);
    }

    wasmtime_component_val_free(batches);
    check(wasmtime_component_resource_any_drop(deal.context, sampler->of.resource));
    wasmtime_component_val_free(sampler);
    wasmtime_component_export_index_delete(deal.sampling);
    wasmtime_component_linker_delete(linker);
    wasmtime_store_delete(store);
    wasmtime_component_delete(component);
    wasm_engine_delete(engine);
    return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
