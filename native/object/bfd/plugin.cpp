// whocall_bfd.so: the one place that is bound to a release of libbfd.
#include <dlfcn.h>

#include <cstdarg>
#include <filesystem>
#include <memory>
#include <utility>

#include "object/bfd/bfd_lines.h"
#include "object/bfd/bfd_symbols.h"
#include "object/bfd_library.h"

namespace whocall {
namespace {

class File final : public BfdFile {
 public:
  explicit File(BfdHandle handle)
      : handle_(std::move(handle)), symbols_(handle_.get()), lines_(handle_.get(), symbols_) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() override {
    const std::lock_guard lock(bfd_mutex());
    handle_.reset();
  }

  std::string format() const override {
    const std::lock_guard lock(bfd_mutex());
    return bfd_get_target(handle_.get());
  }
  std::vector<BfdSymbol> symbols() override {
    const std::lock_guard lock(bfd_mutex());
    return symbols_.defined();
  }
  std::vector<BfdSymbol> synthetic_symbols() override {
    const std::lock_guard lock(bfd_mutex());
    return symbols_.synthetic();
  }
  std::vector<SourceLine> lines_at(Address address) override {
    const std::lock_guard lock(bfd_mutex());
    return lines_.at(address);
  }

 private:
  BfdHandle handle_;
  BfdSymbols symbols_;
  BfdLines lines_;
};

// libbfd writes complaints about damaged files to stderr, in the middle of the user's session.
void ignore_complaint(const char*, va_list) {}

class Library final : public BfdLibrary {
 public:
  Library() {
    bfd_init();
    bfd_set_error_handler(ignore_complaint);
  }

  std::unique_ptr<BfdFile> open(const std::string& path) override {
    const std::lock_guard lock(bfd_mutex());
    return std::make_unique<File>(open_bfd(path));
  }

  // bfd.h does not say; the release is in the library's file name ("libbfd-2.40-system.so"), and
  // who links an archive of it in has to name its release.
  std::string version() const override {
#ifdef WHOCALL_BFD_VERSION
    return "libbfd-" WHOCALL_BFD_VERSION ", linked in";
#else
    Dl_info info = {};
    if (::dladdr(reinterpret_cast<void*>(&bfd_openr), &info) == 0 || info.dli_fname == nullptr) {
      return "libbfd";
    }
    return std::filesystem::path(info.dli_fname).filename().string();
#endif
  }
};

}  // namespace
}  // namespace whocall

extern "C" __attribute__((visibility("default"))) void* whocall_bfd_library() {
  static whocall::Library library;
  return static_cast<whocall::BfdLibrary*>(&library);
}
