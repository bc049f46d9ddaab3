// What wasm2c makes of samedeal.wasm, by shorter names.
#pragma once
#include "dist/core.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the memory of WebAssembly is little-endian: this program copies it as it is"
#endif

// wasm2c writes every character of a name that C does not allow as a number, such as 0x2E for a dot.
#define SAMPLING(name) w2c_core_samedeal0x3Adeal0x2Fsampling0x4000x2E10x2E00x23##name
/// What frees the memory of a result.
#define FREE(name) w2c_core_cabi_post_samedeal0x3Adeal0x2Fsampling0x4000x2E10x2E00x23##name
#define IMPORT(interface, name) w2c_0x5Bexport0x5Dsamedeal0x3Adeal0x2F##interface##0x4000x2E10x2E0##name

#define new_sampler SAMPLING(0x5Bconstructor0x5Dsampler)
#define free_new_sampler FREE(0x5Bconstructor0x5Dsampler)
#define drop_sampler SAMPLING(0x5Bdtor0x5Dsampler)
#define num_batches SAMPLING(0x5Bmethod0x5Dsampler0x2Enum0x2Dbatches)
#define free_num_batches FREE(0x5Bmethod0x5Dsampler0x2Enum0x2Dbatches)
#define get_batch SAMPLING(0x5Bmethod0x5Dsampler0x2Ebatch)
#define free_get_batch FREE(0x5Bmethod0x5Dsampler0x2Ebatch)

/// The tables of handles, which a host may have for each interface: this one needs none.
struct IMPORT(sampling, );
struct IMPORT(mesh, );
#define new_sampler_handle IMPORT(sampling, _0x5Bresource0x2Dnew0x5Dsampler)
#define drop_sampler_handle IMPORT(sampling, _0x5Bresource0x2Ddrop0x5Dsampler)
#define new_mesh_handle IMPORT(mesh, _0x5Bresource0x2Dnew0x5Dmesh)
#define drop_mesh_handle IMPORT(mesh, _0x5Bresource0x2Ddrop0x5Dmesh)
