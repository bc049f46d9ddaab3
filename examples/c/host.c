// The functions of host.h. docs/maintaining/write-a-host.md says why each of them is as it is.
#include "host.h"

#include <errno.h>

void stop(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(EXIT_FAILURE);
}

uint64_t number(const char *text, uint64_t most) {
    char *end;
    errno = 0;
    uint64_t found = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || found > most) {
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

value as_u32(uint64_t of) {
    value made = of_kind(WASMTIME_COMPONENT_U32);
    made.of.u32 = (uint32_t)of;
    return made;
}

value as_u64(uint64_t of) {
    value made = of_kind(WASMTIME_COMPONENT_U64);
    made.of.u64 = of;
    return made;
}

value as_boolean(bool of) {
    value made = of_kind(WASMTIME_COMPONENT_BOOL);
    made.of.boolean = of;
    return made;
}

value as_text(const char *of) {
    value made = of_kind(WASMTIME_COMPONENT_STRING);
    made.of.string.size = strlen(of);
    // The cast removes `const`, but the engine only reads the text.
    made.of.string.data = (char *)of;
    return made;
}

value as_list(value *of, size_t count) {
    value made = of_kind(WASMTIME_COMPONENT_LIST);
    made.of.list.size = count;
    made.of.list.data = of;
    return made;
}

value as_none(void) { return of_kind(WASMTIME_COMPONENT_OPTION); }

/// Ends the program if the engine says that something failed, such as a file that is no component.
static void check(wasmtime_error_t *error) {
    if (error == NULL) return;
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    fprintf(stderr, "wasmtime: %.*s\n", (int)message.size, message.data);
    exit(EXIT_FAILURE);
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

void host_open(struct host *host, const char *path, int64_t memory_limit) {
    memset(host, 0, sizeof *host);
    host->failure = as_boolean(false);
    host->engine = wasm_engine_new();
    wasm_byte_vec_t bytes = read_file(path);
    check(wasmtime_component_new(host->engine, (const uint8_t *)bytes.data, bytes.size, &host->component));
    wasm_byte_vec_delete(&bytes);
    host->store = wasmtime_store_new(host->engine, NULL, NULL);
    // -1: tables, instances and memories have no limit of their own.
    wasmtime_store_limiter(host->store, memory_limit, -1, -1, -1, -1);
    host->context = wasmtime_store_context(host->store);
    // The component imports nothing, so the linker stays empty.
    host->linker = wasmtime_component_linker_new(host->engine);
    check(wasmtime_component_linker_instantiate(host->linker, host->context, host->component, &host->instance));
}

void host_close(struct host *host) {
    wasmtime_component_val_delete(&host->failure);
    wasmtime_component_linker_delete(host->linker);
    wasmtime_store_delete(host->store);
    wasmtime_component_delete(host->component);
    wasm_engine_delete(host->engine);
}

/// Finds a function of an interface. Ends the program if this component has none of that name.
static wasmtime_component_func_t find(struct host *host, const char *interface_name, const char *function) {
    char full[64];
    snprintf(full, sizeof full, "samedeal:deal/%s@0.1.0", interface_name);
    wasmtime_component_export_index_t *outer =
        wasmtime_component_get_export_index(host->component, NULL, full, strlen(full));
    if (!outer) stop(full);
    wasmtime_component_export_index_t *inner = wasmtime_component_instance_get_export_index(
        &host->instance, host->context, outer, function, strlen(function));
    wasmtime_component_func_t found;
    if (!inner || !wasmtime_component_instance_get_func(&host->instance, host->context, inner, &found)) stop(function);
    wasmtime_component_export_index_delete(inner);
    wasmtime_component_export_index_delete(outer);
    return found;
}

bool host_call(struct host *host, const char *interface_name, const char *function, const value *arguments, size_t count,
               value *result) {
    if (host->is_lost) stop("an earlier call ended in an error of the engine: make a new instance");
    wasmtime_component_func_t found = find(host, interface_name, function);
    value answer = as_boolean(false);
    wasmtime_error_t *error = wasmtime_component_func_call(&found, host->context, arguments, count, &answer, 1);
    if (error) {
        host->is_lost = true;
        check(error);
    }
    if (answer.kind != WASMTIME_COMPONENT_RESULT) {
        *result = answer;
        return true;
    }
    // The value is on the heap. There is none if the function returns `result<_, failure>`. It is copied out before the
    // answer is deleted.
    bool is_ok = answer.of.result.is_ok;
    value inner = as_boolean(is_ok);
    if (answer.of.result.val) {
        wasmtime_component_val_clone(answer.of.result.val, &inner);
    }
    wasmtime_component_val_delete(&answer);
    if (is_ok) {
        *result = inner;
    } else {
        wasmtime_component_val_delete(&host->failure);
        host->failure = inner;
    }
    return is_ok;
}

value host_demand(struct host *host, const char *interface_name, const char *function, const value *arguments,
                  size_t count) {
    value result;
    if (!host_call(host, interface_name, function, arguments, count, &result)) {
        host_print_failure(host, stderr);
        exit(EXIT_FAILURE);
    }
    return result;
}

const wasm_name_t *host_failure(const struct host *host, enum failure_text which) {
    return &host->failure.of.record.data[which].val.of.string;
}

bool host_failed_with(const struct host *host, const char *kind) {
    const wasm_name_t *found = host_failure(host, KIND);
    return found->size == strlen(kind) && !memcmp(found->data, kind, found->size);
}

void host_print_failure(const struct host *host, FILE *to) {
    const wasm_name_t *path = host_failure(host, PATH), *given = host_failure(host, VALUE);
    const wasm_name_t *allowed = host_failure(host, ALLOWED);
    // A path of a member becomes the name that users know: `deal.world_size` is `world_size`. Only `order.name` is
    // `order`.
    const char *name = path->data;
    size_t size = path->size;
    const char *point = (const char *)memchr(name, '.', size);
    if (point) {
        size_t section = (size_t)(point - name);
        bool is_name = size - section == strlen(".name") && !memcmp(point, ".name", strlen(".name"));
        if (!is_name) name = point + 1;
        size = is_name ? section : size - section - 1;
    }
    const char *format = "%.*s is %.*s; allowed: %.*s\n";
    if (host_failed_with(host, "unknown-name")) format = "%.*s is \"%.*s\"; known: %.*s\n";
    if (host_failed_with(host, "unknown-member")) format = "%.*s has no member \"%.*s\"; known: %.*s\n";
    if (host_failed_with(host, "out-of-memory")) format = "no memory for %.*s = %.*s; allowed: %.*s\n";
    if (host_failed_with(host, "missing")) {
        fprintf(to, "%.*s is missing; needed: %.*s\n", (int)size, name, (int)allowed->size, allowed->data);
    } else {
        fprintf(to, format, (int)size, name, (int)given->size, given->data, (int)allowed->size, allowed->data);
    }
}

void host_drop(struct host *host, value *object) {
    if (!host->is_lost) check(wasmtime_component_resource_any_drop(host->context, object->of.resource));
    wasmtime_component_val_delete(object);
}
