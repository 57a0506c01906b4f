// SPDX-License-Identifier: Apache-2.0
/// \file
/// Iterators over data: what the registry knows of them, and the batches that they give; pictures.
#include "stable.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <strop/core/fork.hpp>
#include <strop/data/image.hpp>
#include <strop/data/iterators.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strop::python {
namespace {

/// An iterator that several threads may use at once: each batch goes to one of them.
class Batches {
 public:
  explicit Batches(DataIter of) : of_(std::move(of)) {}

  bool next() {
    const Use use(*this);
    return of_.next();
  }
  /// The next batch; none behind the last one.
  std::optional<DataBatch> take() {
    const Use use(*this);
    if (!of_.next()) return std::nullopt;
    return of_.batch();
  }
  DataBatch batch() {
    const Use use(*this);
    return of_.batch();
  }
  void reset() {
    const Use use(*this);
    of_.reset();
  }
  std::string position() {
    const Use use(*this);
    return of_.position();
  }
  void resume(const std::string& position) {
    const Use use(*this);
    of_.resume(position);
  }
  std::vector<DataDesc> provide(bool label) {
    const Use use(*this);
    return label ? of_.provide_label() : of_.provide_data();
  }

 private:
  /// Reading takes long, and other threads of Python run meanwhile.
  struct Use {
    explicit Use(Batches& batches) : others(true), mine(batches.using_) {}
    Unlocked others;
    std::lock_guard<detail::ForkMutex> mine;
  };
  detail::ForkMutex using_;
  DataIter of_;
};

nb::tuple batch_tuple(const DataBatch& batch) {
  return nb::make_tuple(batch.data, batch.label, batch.pad, batch.index, batch.qid);
}

nb::list described(const std::vector<DataDesc>& arrays) {
  nb::list all;
  for (const DataDesc& one : arrays)
    all.append(nb::make_tuple(to_text(one.name), nb::steal(shape_tuple(one.shape)), one.dtype));
  return all;
}

/// The iterator of that name with parameters of Python: paths as these are, None for what is not given.
std::unique_ptr<Batches> open_batches(const std::string& name, const nb::dict& given) {
  const IteratorEntry& entry = detail::find_iterator(name);
  const std::vector<IteratorParam> params = detail::params_of_iterator(entry);
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [key, value] : given) {
    const std::string_view called = view_of(key.ptr());
    bool is_text = false;
    for (const IteratorParam& param : params)
      if (param.name == called) is_text = param.kind == ParamKind::string;
    if (value.is_none()) continue;
    Path path;
    if (is_text && !nb::try_cast(value, path))
      refuse(Kind::type, name, ": ", called, " is of type ", type_of(value.ptr()),
             " and no path, expected a string without zero bytes");
    texts.emplace_back(called, is_text ? path.text : text_of(value.ptr()));
  }
  const Unlocked others(true);
  const std::vector<std::pair<std::string_view, std::string_view>> views(texts.begin(), texts.end());
  return std::make_unique<Batches>(open_iter(name, views));
}

nb::list describe_iterators() {
  nb::list all;
  for (const IteratorEntry* entry : detail::all_iterators()) {
    nb::dict item;
    nb::list params;
    for (const IteratorParam& param : detail::params_of_iterator(*entry)) {
      nb::dict one;
      one["name"] = to_text(param.name);
      one["type"] = to_text(param.type);
      one["kind"] = to_text(name_of(param.kind));
      one["required"] = param.required;
      one["default"] = to_text(param.value);
      one["doc"] = to_text(param.doc);
      params.append(one);
    }
    item["name"] = to_text(entry->name);
    item["doc"] = to_text(entry->doc);
    item["params"] = params;
    all.append(item);
  }
  return all;
}

/// The bytes of an object that has them.
struct Bytes {
  Py_buffer view;
  explicit Bytes(PyObject* object) {
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) nb::raise_python_error();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view); }
  std::string_view text() const { return {static_cast<const char*>(view.buf), static_cast<std::size_t>(view.len)}; }
};

void add_images(nb::module_& module) {
  module.def("image_decode", [](nb::object bytes, int flag, bool to_rgb) {
    const Bytes held(bytes.ptr());
    const Unlocked others(true);
    return image::decode(held.text(), {.flag = flag, .to_rgb = to_rgb});
  });
  module.def("image_encode", [](const NDArray& src, const std::string& format, int quality) {
    const std::string made = [&] {
      const Unlocked others(true);
      return image::encode(src, format, quality);
    }();
    return nb::bytes(made.data(), made.size());
  });
  module.def("image_resize", [](const NDArray& src, std::int64_t w, std::int64_t h, int interp) {
    const Unlocked others(true);
    return image::resize(src, w, h, interp);
  });
  module.def("image_resize_short", [](const NDArray& src, std::int64_t size, int interp) {
    const Unlocked others(true);
    return image::resize_short(src, size, interp);
  });
  module.def("image_crop", [](const NDArray& src, std::int64_t x, std::int64_t y, std::int64_t w, std::int64_t h) {
    return image::crop(src, x, y, w, h);
  });
  module.def("image_mirror", [](const NDArray& src) { return image::mirror(src); });
}

}  // namespace

void add_data(nb::module_& module) {
  nb::class_<Batches>(module, "Batches", "Batches of an iterator of the registry, read ahead.")
      .def(nb::new_([](const std::string& name, const nb::dict& params) { return open_batches(name, params); }))
      .def("next", &Batches::next)
      .def("take",
           [](Batches& batches) {
             const std::optional<DataBatch> batch = batches.take();
             return batch ? nb::object(batch_tuple(*batch)) : nb::none();
           })
      .def("batch", [](Batches& batches) { return batch_tuple(batches.batch()); })
      .def("reset", &Batches::reset)
      .def("position", &Batches::position)
      .def("resume", &Batches::resume)
      .def("provide_data", [](Batches& batches) { return described(batches.provide(false)); })
      .def("provide_label", [](Batches& batches) { return described(batches.provide(true)); });
  module.def("iterators", &describe_iterators);
  add_images(module);
}

}  // namespace strop::python
