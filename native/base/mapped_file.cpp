#include "base/mapped_file.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/mapping_guard.h"
#include "base/regular_file.h"

namespace whocall {

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  struct stat status = {};
  const Descriptor file(open_regular(path, status));
  return of_size(file.get(), path, static_cast<std::size_t>(status.st_size));
}

std::shared_ptr<const MappedFile> MappedFile::of_descriptor(int file, const std::string& name) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) {
    fail_with(name, "cannot be read", errno);
  }
  return of_size(file, name, static_cast<std::size_t>(status.st_size));
}

std::shared_ptr<const MappedFile> MappedFile::of_size(int file, const std::string& path,
                                                      std::size_t size) {
  if (size == 0) {
    return std::shared_ptr<const MappedFile>(new MappedFile(path, {}));
  }
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (start == MAP_FAILED) {
    fail_with(path, "cannot be mapped", errno);
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, {static_cast<const std::byte*>(start), size}));
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {
  if (!bytes_.empty()) {
    guard_ = guard_mapping(bytes_, path_);
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    guard_.reset();
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace whocall
