#include "packing/file_part.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/long_work.h"
#include "packing/sparse_file.h"

namespace whocall {

FilePart::FilePart(int file, std::string name, std::uint64_t offset, std::uint64_t size)
    : file_(file, std::move(name), offset, size), headed_(file_, kPackingMark), plain_(&headed_) {
  if (const auto packing = packing_of(headed_.head())) {
    plain_ = &unpacked_.emplace(*packing, headed_);
  }
}

bool FilePart::skip(std::uint64_t size) {
  std::array<std::byte, std::size_t{1} << 14U> room;
  while (size > 0) {
    const std::size_t passed =
        read(std::span(room).first(std::min<std::uint64_t>(size, room.size())));
    if (passed == 0) {
      return false;
    }
    size -= passed;
  }
  return true;
}

std::uint64_t FilePart::write(const WritePlace& place) {
  LongWork work("Unpacking", file_.name());
  return write_sparse(*plain_, place, file_.name(),
                      [&] { work.reached(file_.done(), file_.total()); });
}

}  // namespace whocall
