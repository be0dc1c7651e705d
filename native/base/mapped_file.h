// A whole file mapped read-only, and guarded against becoming shorter (mapping_guard.h).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace whocall {

// Bytes stay valid as long as the object lives. Share it by shared_ptr: symbol names, rows and
// segments are views into it.
class MappedFile {
 public:
  // Throws Error when the file does not exist, is not a regular file, or cannot be mapped.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  // The same of what is open for reading under a descriptor, which stays the caller's; `name` is
  // what to call it.
  static std::shared_ptr<const MappedFile> of_descriptor(int file, const std::string& name);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  // `place`: where the file lies, which may become shorter; empty: where nobody finds it.
  MappedFile(std::string path, std::span<const std::byte> bytes, const std::string& place);
  static std::shared_ptr<const MappedFile> of_size(int file, std::size_t size,
                                                   const std::string& path,
                                                   const std::string& place);

  std::string path_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> guard_;
};

}  // namespace whocall
