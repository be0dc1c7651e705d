// One opened process with everything that answers questions about it.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <utility>

#include "arguments/arguments.h"
#include "process/process_image.h"
#include "python/convert.h"
#include "symbols/symbolizer.h"
#include "unwind/walk/walker.h"

namespace whocall::python {

// Order matters: walker and symbolizer look into the image.
struct Session {
  explicit Session(std::unique_ptr<ProcessImage> opened)
      : image(std::move(opened)),
        symbolizer(std::make_shared<Symbolizer>(*image)),
        walker(*image, symbolizer),
        values(walker) {}

  std::unique_ptr<ProcessImage> image;
  std::shared_ptr<Symbolizer> symbolizer;
  Walker walker;
  CodeValues values;
  KeptTexts texts;
  static constexpr unsigned kEvidence = static_cast<unsigned>(Evidence::damaged_return) + 1;
  // Tuples of its words, by which are among them.
  std::array<pybind11::object, std::size_t{1} << kEvidence> evidence;
};

// What Python holds: close() lets the session go, later calls say so.
class Process {
 public:
  explicit Process(std::unique_ptr<ProcessImage> image)
      : session_(std::make_shared<Session>(std::move(image))) {}

  [[nodiscard]] const std::shared_ptr<Session>& session() const {
    if (session_ == nullptr) {
      throw pybind11::value_error("the process was closed");
    }
    return session_;
  }
  [[nodiscard]] const ProcessImage& image() const { return *session()->image; }
  // A live process goes on at once, also while frames of it are kept, which lie in the session.
  void close() {
    if (session_ != nullptr && session_->image->core_path.empty()) {
      session_->image->source.reset();
    }
    session_.reset();
  }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace whocall::python
