// Replays transcripts on core modules that wasm2c has turned into C: `replay NAME FOLDER`. `../README.md` describes
// transcripts. wasm2c.py writes `modules.h`: for each component, its functions, its memory, and how it is opened and closed.
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WABT_BIG_ENDIAN
#define WABT_BIG_ENDIAN 0
#endif
#include "modules.h"

enum { MAX_FUNCTIONS = 4096, MAX_WORDS = 20, SHOWN = 200 };

typedef struct {
    char *name;
    char *kinds;
    // The function with this name in each component: several components have functions of one name.
    const function_t *found[COUNT];
} called_t;

static called_t functions[MAX_FUNCTIONS];
static void *instances[COUNT];
static int here;
static uint32_t table[256];
static uint32_t answers;
static long cases, failed;
static bool case_is_good;
static const char *group;

static void die(const char *why, const char *what) {
    fprintf(stderr, "%s: %s: %.*s\n", group ? group : "replay", why, SHOWN, what);
    exit(1);
}

static uint32_t crc(uint32_t before, const uint8_t *bytes, size_t length) {
    uint32_t value = ~before;
    for (size_t i = 0; i < length; i++) value = (value >> 8) ^ table[(value ^ bytes[i]) & 255];
    return ~value;
}

static void make_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? (value >> 1) ^ 0xedb88320u : value >> 1;
        table[byte] = value;
    }
}

// wasm2c stores the memory backwards on a big-endian machine: byte 0 is the last one.
static uint8_t *at(wasm_rt_memory_t *memory, uint64_t address, uint64_t length) {
    if (address + length > memory->size) die("outside of the memory", "address");
#if WABT_BIG_ENDIAN
    return memory->data + memory->size - address - length;
#else
    return memory->data + address;
#endif
}

static uint8_t *forwards(const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length + 1);
    if (!copy) die("no memory for", "a copy");
    for (size_t i = 0; i < length; i++) copy[i] = bytes[WABT_BIG_ENDIAN ? length - 1 - i : i];
    return copy;
}

static void expect(bool is_same, const char *line) {
    if (is_same) return;
    if (case_is_good) failed++;
    case_is_good = false;
    fprintf(stderr, "%s, case %ld: another answer for %.*s\n", group, cases, SHOWN, line);
}

static int component(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(modules[i].name, name)) return i;
    die("no component", name);
    return 0;
}

static const function_t *function(called_t *called) {
    if (!called->found[here])
        for (const function_t *found = modules[here].functions; found->name; found++)
            if (!strcmp(found->name, called->name)) called->found[here] = found;
    if (!called->found[here]) die("no function", called->name);
    return called->found[here];
}

static uint8_t *unhex(const char *hex, size_t length) {
    uint8_t *bytes = malloc(length + 1);
    if (!bytes) die("no memory for", "bytes");
    for (size_t i = 0; i < length; i++) {
        int high = hex[2 * i], low = hex[2 * i + 1];
        bytes[i] = (uint8_t)((high > '9' ? high - 'a' + 10 : high - '0') << 4 | (low > '9' ? low - 'a' + 10 : low - '0'));
    }
    return bytes;
}

static void call(char *words, const char *line) {
    uint64_t given[MAX_WORDS];
    int count = 0;
    called_t *called = &functions[strtoul(strtok(words, " "), NULL, 10)];
    char *expected = strtok(NULL, " ");
    for (char *word; (word = strtok(NULL, " ")) && count < MAX_WORDS;) given[count++] = strtoull(word, NULL, 10);
    uint64_t result = function(called)->call(instances[here], given);
    if (called->kinds[0] == '-') return;
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(result >> 8 * i);
    answers = crc(answers, bytes, sizeof bytes);
    expect(result == strtoull(expected, NULL, 10), line);
}

static void run(char *line) {
    char *shown = strdup(line);
    char *words = strchr(line, ' ');
    if (words) *words++ = 0;
    wasm_rt_memory_t *memory = instances[here] ? modules[here].memory(instances[here]) : NULL;
    if (!strcmp(line, "case")) {
        cases++;
        case_is_good = true;
    } else if (!strcmp(line, "group")) {
        group = strdup(words);
    } else if (!strcmp(line, "open")) {
        here = component(words);
        instances[here] = modules[here].open();
    } else if (!strcmp(line, "use")) {
        here = component(words);
    } else if (!strcmp(line, "function")) {
        unsigned long id = strtoul(strtok(words, " "), NULL, 10);
        if (id >= MAX_FUNCTIONS) die("too many functions", shown);
        char *kinds = strtok(NULL, " ");
        functions[id] = (called_t){.kinds = strdup(kinds), .name = strdup(strtok(NULL, ""))};
    } else if (!memory) {
        die("no instance for", shown);
    } else if (!strcmp(line, "call")) {
        call(words, shown);
    } else {
        char *hex;
        uint64_t address = strtoull(words, &hex, 10);
        hex++;
        if (!strcmp(line, "close")) {
            uint8_t *whole = forwards(memory->data, memory->size);
            uint32_t hash = crc(0, whole, memory->size);
            uint8_t bytes[4] = {(uint8_t)hash, (uint8_t)(hash >> 8), (uint8_t)(hash >> 16), (uint8_t)(hash >> 24)};
            answers = crc(answers, bytes, sizeof bytes);
            expect(memory->size == address && hash == strtoul(hex, NULL, 10), shown);
            free(whole);
            modules[here].close(instances[here]);
            instances[here] = NULL;
        } else {
            size_t length = strlen(hex) / 2;
            uint8_t *bytes = unhex(hex, length), *place = at(memory, address, length);
            uint8_t *now = forwards(!strcmp(line, "read") ? place : bytes, length);
            if (!strcmp(line, "read")) {
                answers = crc(answers, now, length);
                expect(!memcmp(now, bytes, length), shown);
            } else if (!strcmp(line, "write")) {
                memcpy(place, now, length);
            } else {
                die("no verb", shown);
            }
            free(bytes);
            free(now);
        }
    }
    free(shown);
}

static FILE *opened(const char *folder, const char *name, const char *end) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    FILE *file = fopen(path, "r");
    if (!file) die("cannot be read", path);
    return file;
}

static void replay(const char *engine, const char *folder, const char *name) {
    cases = failed = 0;
    answers = 0;
    FILE *file = opened(folder, name, ".txt");
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        line[length - 1] = 0;
        run(line);
    }
    free(line);
    fclose(file);
    printf("matrix\t%s\t%s\t%ld\t%ld\t\t%08" PRIx32 "\n", engine, name, cases - failed, failed, answers);
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count != 3) die("usage", "replay ENGINE FOLDER");
    make_table();
    wasm_rt_init();
    FILE *groups = opened(arguments[2], "groups", ".txt");
    char name[256];
    long all_passed = 0, all_failed = 0;
    while (fscanf(groups, "%255s", name) == 1) {
        replay(arguments[1], arguments[2], name);
        all_passed += cases - failed;
        all_failed += failed;
    }
    fclose(groups);
    wasm_rt_free();
    return all_passed > 0 && all_failed == 0 ? 0 : 1;
}
