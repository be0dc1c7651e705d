// A crash as it comes: packed, in a report, packed again, or plain.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packing/descriptor_source.h"
#include "packing/headed_source.h"
#include "packing/unpack_limit.h"

namespace whocall {

// A file packed in a file packed in a file is somebody's joke.
inline constexpr unsigned kMostNested = 4;

class PackedCrash {
 public:
  // Takes off what is packed, as far as it tells what is inside. The descriptor of a file or pipe,
  // which is read from where it stands, stays the caller's; `name` is what to call it. Throws
  // Error.
  PackedCrash(int file, std::string name);

  // As input_kind(): a core, a minidump or a microdump.
  [[nodiscard]] std::string_view kind() const { return kind_; }
  // What a report tells beside the core.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const {
    return fields_;
  }
  // Writes what is inside to the empty file; to be done once. What a damaged stream still held is
  // good. Returns the size, bytes. Throws Error.
  std::uint64_t write(const WritePlace& place);
  // After that, why the stream it was packed in could not be read to its end; or empty.
  [[nodiscard]] std::string damage() const { return inside_->damage(); }

 private:
  HeadedSource& look_into(ByteSource& source);

  DescriptorSource file_;
  std::vector<std::unique_ptr<ByteSource>> layers_;  // each reads the one before it
  HeadedSource* inside_ = nullptr;
  std::string_view kind_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace whocall
