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
  return of_size(file.get(), static_cast<std::size_t>(status.st_size), path, path);
}

std::shared_ptr<const MappedFile> MappedFile::of_descriptor(int file, const std::string& name) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) {
    fail_with(name, "cannot be read", errno);
  }
  // What was unpacked lies in a file without a name, and is called by that of the packed one.
  struct stat named = {};
  const bool is_there = ::stat(name.c_str(), &named) == 0 && named.st_dev == status.st_dev &&
                        named.st_ino == status.st_ino;
  return of_size(file, static_cast<std::size_t>(status.st_size), name, is_there ? name : "");
}

std::shared_ptr<const MappedFile> MappedFile::of_size(int file, std::size_t size,
                                                      const std::string& path,
                                                      const std::string& place) {
  if (size == 0) {
    return std::shared_ptr<const MappedFile>(new MappedFile(path, {}, place));
  }
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (start == MAP_FAILED) {
    fail_with(path, "cannot be mapped", errno);
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, {static_cast<const std::byte*>(start), size}, place));
}

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes, const std::string& place)
    : path_(std::move(path)), bytes_(bytes) {
  if (!bytes_.empty()) {
    guard_ = guard_mapping(bytes_, place);
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    guard_.reset();
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace whocall
