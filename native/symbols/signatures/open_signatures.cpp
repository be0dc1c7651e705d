#include "symbols/signatures/open_signatures.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/mapped_file.h"
#include "base/text_lines.h"
#include "symbols/flirt/flirt_file.h"
#include "symbols/signatures/signature_file.h"

namespace whocall {
namespace {

struct LoadedSignatures {
  timespec changed{};
  off_t size = 0;
  std::weak_ptr<const SignatureIndex> own{};
  std::weak_ptr<const FlirtIndex> flirt{};

  [[nodiscard]] bool is_of(const struct stat& status) const {
    return size == status.st_size && changed.tv_sec == status.st_mtim.tv_sec &&
           changed.tv_nsec == status.st_mtim.tv_nsec;
  }
};

OpenedSignatures read_signatures(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  if (is_flirt_tree(bytes)) {
    return {nullptr, std::make_shared<const FlirtIndex>(read_flirt_tree(bytes, path))};
  }
  if (is_flirt_text(bytes)) {
    return {nullptr, std::make_shared<const FlirtIndex>(read_flirt_text(as_text(bytes), path))};
  }
  return {std::make_shared<const SignatureIndex>(
              decode_signatures(ByteView(bytes, Endian::little), path)),
          nullptr};
}

}  // namespace

// A process has many modules: its signatures are read once for all of them.
OpenedSignatures open_signatures(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, LoadedSignatures> known;
  static OpenedSignatures latest;  // keeps one from module to module
  struct stat status = {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  const std::lock_guard lock(mutex);
  LoadedSignatures& entry = known[path];
  OpenedSignatures opened{entry.own.lock(), entry.flirt.lock()};
  const bool is_open = opened.own != nullptr || opened.flirt != nullptr;
  if (!is_open || !is_there || !entry.is_of(status)) {
    opened = read_signatures(path);
    entry = {status.st_mtim, status.st_size, opened.own, opened.flirt};
  }
  latest = opened;
  return opened;
}

}  // namespace whocall
