// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a shared library of operators and the program that loads it say to each other: plain C, so that both may be
/// built by any compiler, library of C++ and version of strop.
///
/// A library has a function `const strop_library* strop_operators(void)`, which strop/library/export.hpp writes. A
/// structure that begins with its size may get members at its end: it is reached through a pointer, lists of it are
/// lists of pointers, and whoever reads a member that was added later looks at the size first. strop_text, strop_sink
/// and strop_shape have no size and stay as they are: they stand in lists, and among arguments, themselves. `version`
/// changes with every change but a member at the end, that is when a member goes, moves or means something else; a
/// program refuses libraries of another version. A structure and its texts live as long as the library is loaded, and a
/// program never unloads it. Functions may be called from any thread. None throws: those that give a status put a
/// sentence into `error` and give strop_failed. Numbers of element types and storages are those of MXNet's
/// files.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  strop_layout_version = 1,
  strop_most_dimensions = 32,
  strop_unknown = -1,  // of a rank, an extent, an element type, a storage
  strop_open = -1      // of a number of inputs
};
enum { strop_failed = -1, strop_no = 0, strop_yes = 1, strop_done = 0 };

// NOLINTBEGIN(modernize-use-using): C
typedef struct strop_text {
  const char* data;
  int64_t size;
} strop_text;

/// Where a function puts text; it calls `put` once.
typedef struct strop_sink {
  void* to;
  void (*put)(void* to, const char* data, int64_t size);
} strop_sink;

/// A shape, known in part: a rank of strop_unknown says that nothing is.
typedef struct strop_shape {
  int32_t rank;
  int64_t extent[strop_most_dimensions];
} strop_shape;

/// One array of a call, row-major and contiguous. `shape` is null where there is none: an optional input that was left
/// out. `data` is null where it has no memory: an input that a gradient does not read, an output that nobody asks for.
/// A sparse one has `stored` values or rows, in the order of `indices`.
typedef struct strop_tensor {
  uint64_t size;
  int32_t dtype, storage, rank;
  const int64_t* shape;
  void* data;
  int64_t stored;
  int64_t *indices, *indptr;
} strop_tensor;

/// A call of a kernel.
typedef struct strop_call {
  uint64_t size;
  const void* params;
  int32_t inputs, outputs;
  const strop_tensor* const* in;
  strop_tensor* const* out;
  const int32_t* requests;  // per output: 0 nothing, 1 overwrite, 2 overwrite in place, 3 add
  int32_t train;
  int32_t random;  // whether the next two are there
  uint64_t random_seed, random_call;
  void* state;  // what make_state gave, else null
  void* host;
  /// Gives a sparse output room for that many values or rows, in its `data`, `indices` and `indptr`.
  int32_t (*make_room)(void* host, int32_t output, int64_t stored);
  /// Gives a dense output whose shape follows from the data that shape, and memory in its `data`.
  int32_t (*make_found)(void* host, int32_t output, int32_t rank, const int64_t* shape);
} strop_call;

/// Takes the names and numbers of the tensors of a call.
typedef struct strop_signature {
  uint64_t size;
  void* to;
  void (*name)(void* to, int32_t output, strop_text name);  // the next input, or output
  void (*written)(void* to, int32_t input);
  void (*visible)(void* to, int32_t outputs);
} strop_signature;

/// A parameter. `kind` is a number of strop::ParamKind. Values stand in an object that the operator has constructed.
typedef struct strop_parameter strop_parameter;
struct strop_parameter {
  uint64_t size;
  const void* own;
  strop_text name, type;
  int32_t kind, optional, required, has_order;
  int64_t words;
  const strop_text* word;
  int32_t has_range;
  double low, high;
  int32_t (*parse)(const strop_parameter* self, void* value, strop_text text);  // strop_yes, strop_no
  void (*print)(const strop_parameter* self, const void* value, strop_sink text);
  int32_t (*number)(const strop_parameter* self, const void* value, double* number);  // strop_yes where it has one
  int32_t (*missing)(const strop_parameter* self, const void* value);                 // strop_yes, strop_no
};

/// A map over n contiguous elements.
typedef void (*strop_loop)(const void* params, const void* const* in, void* const* out, int64_t n);

typedef struct strop_operator strop_operator;
struct strop_operator {
  uint64_t size;
  const void* own;
  strop_text name, snake, qualified, file, doc;
  int64_t aliases;
  const strop_text* alias;
  int64_t notes;
  const strop_text* note;  // pairs: parameter or tensor, text

  int64_t parameters;
  const strop_parameter* const* parameter;
  int64_t param_aliases;
  const strop_text* param_alias;  // pairs: alias, parameter
  int64_t object_size, object_align;
  int32_t checked;
  void (*construct)(const strop_operator* self, void* object);
  void (*copy)(const strop_operator* self, void* to, const void* from);
  void (*destroy)(const strop_operator* self, void* object);
  void* (*at)(const strop_operator* self, void* object, int64_t parameter);

  int32_t min_inputs, inputs, outputs, visible;
  uint32_t dtypes;  // a bit per element type
  int32_t same_shape, mutates, accumulates, gives_real, skips_null, sparse_forms, dense_form;
  int64_t shares;
  const int32_t* share;  // pairs: input, output
  int32_t (*signature)(const strop_operator* self, const void* params, int32_t given, const strop_signature* to,
                       strop_sink error);

  // Inference; null where nothing is stated. Known in part, in any direction.
  int32_t (*infer_shape)(const strop_operator* self, const void* params, int32_t inputs, strop_shape* in,
                         int32_t outputs, strop_shape* out, strop_sink error);
  int32_t (*infer_type)(const strop_operator* self, const void* params, int32_t inputs, int32_t* in, int32_t outputs,
                        int32_t* out, strop_sink error);
  /// strop_yes: the storages are served; strop_no: by dense copies.
  int32_t (*infer_storage)(const strop_operator* self, const void* params, int32_t inputs, const int32_t* in,
                           int32_t outputs, int32_t* out, strop_sink error);

  // A map: loops by the type that they compute in, and what follows from the body.
  strop_loop loop_f32, loop_f64, loop_i64;
  uint64_t (*kept)(const strop_operator* self, const void* params, int32_t dtype);
  int32_t (*zero)(const strop_operator* self, const void* params, int32_t dtype, uint64_t zeros);
  int32_t (*operations_of_element)(const strop_operator* self, const void* params);

  // A tensor operator.
  int32_t (*run)(const strop_operator* self, const strop_call* call, strop_sink error);
  int32_t (*takes)(const strop_operator* self, int32_t dtype);
  int32_t (*resources)(const strop_operator* self, const void* params, int32_t inputs, const strop_shape* in,
                       int32_t* random, int64_t* temp_bytes, strop_sink error);
  int32_t (*operations)(const strop_operator* self, const void* params, int32_t inputs, const strop_shape* in,
                        double* operations, strop_sink error);
  int32_t (*make_state)(const strop_operator* self, const void* params, int32_t inputs, const strop_shape* in,
                        int32_t train, void** state, strop_sink error);
  void (*free_state)(const strop_operator* self, void* state);

  // The gradient: an operator of head gradients, inputs and outputs, in this order, those of the masks, with the
  // parameters of this one; or null.
  const strop_operator* gradient;
  int32_t zero_gradient;
  uint64_t gradient_heads, gradient_in, gradient_out, gradient_gives;

  // A map: whether it takes integers as double, and gives double, with these parameters; null where it never does.
  int32_t (*integers_as_double)(const strop_operator* self, const void* params);
  uint64_t whole;  // of a map: inputs of whole numbers whatever the type of the others, a bit each
  uint64_t found;  // of a tensor operator: outputs whose shapes follow from the data, a bit each
};

typedef struct strop_library {
  uint64_t size;
  uint32_t version;  // strop_layout_version
  strop_text built_by;
  int64_t operators;
  const strop_operator* const* list;
} strop_library;
// NOLINTEND(modernize-use-using)

#ifdef __cplusplus
}
#endif
