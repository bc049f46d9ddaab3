// A small host: functions that every program needs to call samedeal.wasm under wasmtime, by the C API for components.
#ifndef HOST_H
#define HOST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wasmtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef wasmtime_component_val_t value;

/// An instance of the component. One thread at a time may use it and the objects that it gave.
struct host {
    wasm_engine_t *engine;
    wasmtime_component_t *component;
    wasmtime_component_linker_t *linker;
    wasmtime_store_t *store;
    wasmtime_context_t *context;
    wasmtime_component_instance_t instance;
    /// The record `failure` of the last call that failed.
    value failure;
    /// Whether a call ended in an error of the engine. The instance cannot be used after that.
    bool is_lost;
};

/// The texts of a failure, in the order in which the record has them.
enum failure_text { KIND, FIELD, PATH, VALUE, ALLOWED };

/// Compiles the file and makes an instance whose memory grows up to `memory_limit` bytes. Ends the program if the file is
/// no component.
void host_open(struct host *host, const char *path, int64_t memory_limit);
void host_close(struct host *host);

/// Calls a function of an interface, such as `[method]sampler.batch` of `sampling`. If it fails, the answer is false, and
/// `host_failure` has the reason. Else the answer is in `result`, without its `result<_, failure>`; the caller frees it
/// with `wasmtime_component_val_delete`.
bool host_call(struct host *host, const char *interface_name, const char *function, const value *arguments, size_t count,
               value *result);

/// Like `host_call`, but a failure ends the program with its message.
value host_demand(struct host *host, const char *interface_name, const char *function, const value *arguments,
                  size_t count);

/// A text of the last failure. It is valid until the next call.
const wasm_name_t *host_failure(const struct host *host, enum failure_text which);
bool host_failed_with(const struct host *host, const char *kind);
/// Prints the last failure in one line.
void host_print_failure(const struct host *host, FILE *to);

/// Drops an object of the component, and frees the value.
void host_drop(struct host *host, value *object);

/// Values for arguments. Texts and lists stay where the caller has them.
value as_u32(uint64_t of);
value as_u64(uint64_t of);
value as_boolean(bool of);
value as_text(const char *of);
value as_list(value *of, size_t count);
value as_none(void);

/// A whole number of a command line. Ends the program if the text is none.
uint64_t number(const char *text, uint64_t most);
void stop(const char *what);

#ifdef __cplusplus
}
#endif
#endif
