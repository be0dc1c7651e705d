#include "memory/memory.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace whocall {

std::size_t Memory::read(Address address, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto run = run_at(address + done);
    if (run.empty()) {
      break;
    }
    const std::size_t part = std::min(run.size(), out.size() - done);
    std::memcpy(out.data() + done, run.data(), part);
    done += part;
  }
  return done;
}

std::span<const std::byte> Memory::bytes_at(Address address, std::size_t size,
                                            std::vector<std::byte>& room) const {
  const auto run = run_at(address);
  if (run.empty() || run.size() >= size) {
    return run.first(std::min(run.size(), size));
  }
  room.resize(size);
  room.resize(read(address, room));
  return room;
}

std::optional<std::uint64_t> Memory::read_unsigned(Address address, unsigned size,
                                                   Endian endian) const {
  const auto run = run_at(address);
  if (run.size() >= size) {
    return ByteView(run, endian).read_unsigned(0, size);
  }
  std::array<std::byte, 8> word{};
  if (size > word.size() || read(address, std::span(word).first(size)) != size) {
    return std::nullopt;
  }
  return ByteView(word, endian).read_unsigned(0, size);
}

}  // namespace whocall
