// SPDX-License-Identifier: Apache-2.0
/// \file
/// NDArray: the handle of an array. Dense, CSR or row-sparse; copying a handle shares the array.
#pragma once
#include <strop/core/device.hpp>
#include <strop/core/dtype.hpp>
#include <strop/core/ref.hpp>
#include <strop/core/shape.hpp>
#include <strop/tensor/buffer.hpp>
#include <strop/tensor/storage.hpp>
#include <strop/tensor/view.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <vector>

namespace strop::inline v0 {

class NDArray;

/// How a gradient arrives in an array's buffer: not at all, overwriting, or added to what is there.
enum class GradRequest : std::uint8_t { null = 0, write = 1, add = 3 };

namespace detail {

/// Called by what makes sparse arrays: installs what operators need for them (defined with the operators).
void install_sparse();

/// What autograd hangs on an array: the operation that made it, or its own gradient buffer. Defined in autograd/.
class GradientNode : public Counted {
 public:
  virtual ~GradientNode() = default;
};

/// What was found out of a list of numbers that says where a sparse array stores something, and of which version of the
/// list. Threads that read an array at once find out the same, so that it does not matter whose finding stays.
class Finding {
 public:
  Finding() = default;
  // A copy of an array's body may be another piece of the memory.
  Finding(const Finding&) {}
  Finding& operator=(const Finding&) = delete;

  void keep(std::uint64_t version, std::int64_t bound) {
    bound_.store(bound, std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_release);
  }
  bool is_of(std::uint64_t version) const { return version_.load(std::memory_order_acquire) == version + 1; }
  std::int64_t bound() const { return bound_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> version_{0};  // counted from 1; 0: nothing is known
  std::atomic<std::int64_t> bound_{0};
};

/// The array itself; every handle of it points here.
struct Body : Counted, memory::Recycled<Body> {
  Shape shape;
  Dtype dtype = f32;
  Storage storage = dense;
  Device device;
  Ref<Buffer> buffer;               // elements of a dense array, stored values of a sparse one; none until allocated
  std::int64_t offset = 0;          // bytes into the buffer (views)
  Ref<Body> indices, indptr;        // of a sparse array: i64 or i32, dense
  Ref<GradientNode> gradient_node;  // the operation that produced it, while recording
  std::int32_t gradient_index = 0;
  Ref<GradientNode> leaf;  // attach_grad: the gradient buffer and its request
  Finding finding;         // of a list of indices, or an indptr (tensor/structure.hpp)
};

}  // namespace detail

/// A handle to an array. Copying shares it, assignment rebinds the handle, `copy()` copies the elements.
///
/// Many threads may read one array at once; one at a time may write it. Row-major and contiguous always. Members that
/// are const read, but for attach_grad(), which changes what the array is to those who record: several threads may call
/// it and grad() at once, and the last one's buffer stays, while nobody else uses the array. Threads may record from
/// arrays that they share; backward passes that meet in one history, or in one gradient buffer, wait for each other.
class NDArray {
 public:
  /// No array: defined() is false. Members that need one throw Error, but shape(), ndim(), size(), dtype(), storage()
  /// and device(), which every call reads: they may be asked of an array only, as `*p` of a pointer to something.
  NDArray() = default;
  /// A new dense array, its elements uninitialised. Throws Error when memory runs out.
  explicit NDArray(const Shape& shape, Dtype dtype = f32, Device device = cpu());
  /// The same in any storage; a sparse array stores nothing.
  explicit NDArray(const Shape& shape, Dtype dtype, Device device, Storage storage);

  /// Shape, dtype, storage and device without memory.
  static NDArray shell(const Shape& shape, Dtype dtype, Device device = cpu());
  static NDArray shell(const Shape& shape, Dtype dtype, Device device, Storage storage);

  /// Whether there is an array. (As a condition an array does not compile: of a comparison it would always be true.)
  [[nodiscard]] bool defined() const { return static_cast<bool>(body_); }
  template <std::same_as<bool> B>
  constexpr explicit operator B() const {
    static_assert(!sizeof(B),
                  "strop: an array is no condition: allclose(a, b) compares two of them, item<float>() is the only "
                  "element of one, and x.defined() asks whether there is an array");
    return false;
  }
  const Shape& shape() const { return body_->shape; }
  int ndim() const { return body_->shape.ndim(); }
  /// Elements of the logical array, stored or not.
  std::int64_t size() const { return body_->shape.size(); }
  Dtype dtype() const { return body_->dtype; }
  Storage storage() const { return body_->storage; }
  Device device() const { return body_->device; }

  /// Waits until the array's elements are there; throws what failed on the way to them. Every function that looks at
  /// elements does so by itself.
  void wait() const {
    if (body_ && body_->buffer) body_->buffer->data();
    if (body_ && body_->device.kind == DeviceKind::gpu) wait_on_gpu();
  }
  /// The engine's variable of a dense array's elements, which its views share: `engine.push(f, {.writes =
  /// {x.variable()}})` with Engine::global(). From then on operations on the array wait for what is pushed, and run as
  /// soon as it allows (defined in tensor/variable.hpp).
  template <class E = class Engine>
  auto variable() const;

  /// The elements in row-major order, converted to E; a sparse array gives its dense elements.
  template <Element E>
  std::vector<E> to_vector() const;
  /// The only element of an array of size 1, converted to E.
  template <class E>
  E item() const;
  /// A typed view of a dense array of this dtype and rank. For constant E it waits for writes that are pending,
  /// else for reads as well, and counts as a write: what was recorded of the elements before has no gradient any more.
  template <class E, int Rank = any_rank>
  View<E, Rank> view() const;

  /// A new array with the same elements, without a history.
  NDArray copy() const;
  /// The same array where nothing changes, else one that is converted (defined with the operators; it is recorded).
  template <std::same_as<Dtype> D>
  NDArray to(D dtype) const;
  template <std::same_as<Storage> S>
  NDArray to(S storage) const;
  template <std::same_as<Device> D>
  NDArray to(D device) const;

  /// Rows [begin, end) of the first axis; negative positions count from the end. Dense: a view; CSR: a copy.
  NDArray slice(std::int64_t begin, std::int64_t end) const;
  /// The i-th entry of the first axis, one dimension fewer (of a vector: shape (1,)). A view.
  NDArray operator[](std::int64_t i) const;
  /// A view of another shape with as many elements. Codes: 0 keeps an extent, −1 infers one, −2 copies the rest,
  /// −3 merges two, −4 splits one into the two that follow.
  NDArray reshape(const Shape& shape) const;

  /// Parts of a sparse array; `data()` of a dense one is itself.
  NDArray data() const;
  NDArray indices() const;
  NDArray indptr() const;
  /// Stored values (CSR), stored rows (row-sparse), elements (dense).
  std::int64_t nnz() const;
  /// Throws Error with what is wrong with a sparse array's structure: indptr, order and range of indices.
  void check_format(bool full = true) const;

  /// Asks for the gradient with respect to this array (defined in autograd/).
  /// The buffer has the array's storage unless said: a CSR one holds the gradient at the stored positions alone, a
  /// row-sparse one the rows that have a gradient.
  void attach_grad(GradRequest request = GradRequest::write) const;
  void attach_grad(GradRequest request, Storage storage) const;
  NDArray grad() const;
  /// Gradients of all arrays that this one was computed from; head gradient 1 unless given.
  void backward(const NDArray& head_gradient = {}, bool retain_graph = false) const;
  /// The same elements without history.
  NDArray detach() const;

  /// Whether two handles are the same array (== compares elements).
  [[nodiscard]] bool is(const NDArray& other) const { return body_ == other.body_; }

  // For the layers above.
  // As the constructor and shell, for arrays that follow from others, of whose storage there is one already, and for
  // literals: they install nothing (core/installed.hpp).
  static NDArray fresh(const Shape& shape, Dtype dtype, Device device = cpu());
  static NDArray fresh_shell(const Shape& shape, Dtype dtype, Device device, Storage storage);
  explicit NDArray(detail::Ref<detail::Body> body) : body_(std::move(body)) {}
  detail::Body& body() const { return *body_; }
  const detail::Ref<detail::Body>& body_ref() const { return body_; }
  bool allocated() const { return static_cast<bool>(body_->buffer); }
  std::byte* bytes() const { return body_->buffer ? body_->buffer->data() + body_->offset : nullptr; }
  /// bytes() without waiting.
  std::byte* address() const { return body_->buffer ? body_->buffer->address() + body_->offset : nullptr; }
  /// The order of what happens to the elements, if they have one.
  detail::Pending* pending() const { return body_->buffer ? body_->buffer->pending() : nullptr; }
  /// Whether something is pending on the elements, or has failed on it.
  bool busy() const {
    detail::Pending* const order = pending();
    return order != nullptr && order->busy();
  }
  /// Who may write waits for those who still read as well.
  template <class E>
  E* pointer() const {
    if constexpr (!std::is_const_v<E>)
      if (detail::Pending* const order = pending()) [[unlikely]]
        order->wait(true);
    return reinterpret_cast<E*>(bytes());
  }
  /// Elements in the buffer: all of a dense array, the stored values of a sparse one.
  std::int64_t stored() const;
  /// Gives a sparse array room for `count` values (CSR) or rows (row-sparse); what was stored is dropped.
  void allocate_stored(std::int64_t count) const;
  /// Gives a dense shell its memory.
  void allocate() const;

 private:
  void wait_on_gpu() const;
  detail::Ref<detail::Body> body_;
};

using Array = NDArray;

namespace detail {
// Declared where everybody sees it: files that stand on each other, cast.hpp and structure.hpp, need them.
/// A copy of a list, made by all threads where it is long (tensor/cast.hpp).
NDArray copied_by_all(const NDArray& list);
/// Says that what stands in a sparse array's lists was just made of lists that had been looked at
/// (tensor/structure.hpp).
void trust_structure(const NDArray& a);
/// The same of one list, a copy of the other: what is known of that is known of it.
void trust_copy(const NDArray& copy, const NDArray& of);
}  // namespace detail

}  // namespace strop::inline v0

#include <strop/tensor/element_access.hpp>

#include <strop/tensor/cast.hpp>

#if !defined(STROP_COMPILED)
#include <strop/tensor/ndarray_impl.hpp>
#include <strop/tensor/variable.hpp>
#endif
