#include "packing/byte_source.h"

namespace whocall {

std::size_t read_fully(ByteSource& source, std::span<std::byte> room) {
  std::size_t have = 0;
  while (have < room.size()) {
    const std::size_t more = source.read(room.subspan(have));
    if (more == 0) {
      break;
    }
    have += more;
  }
  return have;
}

}  // namespace whocall
