// Mutations that know a form: fields get values on which readers stumble, and what a reader looks
// at before all else is made right again. Each target chooses one for its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace whocall::fuzz {

// A number inside an input.
struct Field {
  std::size_t at = 0;
  std::size_t size = 0;  // bytes
};

class FieldBytes {
 public:
  FieldBytes(std::span<std::uint8_t> bytes, bool big) : bytes_(bytes), big_(big) {}

  [[nodiscard]] bool holds(const Field& field) const {
    return field.at <= bytes_.size() && field.size <= bytes_.size() - field.at;
  }
  // 0 where it is not there.
  [[nodiscard]] std::uint64_t get(const Field& field) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; holds(field) && i < field.size; ++i) {
      value |= std::uint64_t{bytes_[field.at + (big_ ? field.size - 1 - i : i)]} << (8 * i);
    }
    return value;
  }
  void put(const Field& field, std::uint64_t value) {
    for (std::size_t i = 0; holds(field) && i < field.size; ++i) {
      bytes_[field.at + (big_ ? field.size - 1 - i : i)] =
          static_cast<std::uint8_t>(value >> (8 * i));
    }
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  std::span<std::uint8_t> bytes_;
  bool big_;
};

// One field gets a value of those that matter: nothing, everything, an end, another field's.
inline void mutate_field(FieldBytes& bytes, const std::vector<Field>& fields,
                         std::mt19937& random) {
  if (fields.empty()) {
    return;
  }
  const Field& field = fields[random() % fields.size()];
  const std::uint64_t was = bytes.get(field);
  const std::uint64_t other = bytes.get(fields[random() % fields.size()]);
  const std::uint64_t values[] = {0,
                                  1,
                                  ~std::uint64_t{0},
                                  ~std::uint64_t{0} >> 1U,
                                  std::uint64_t{1} << 31U,
                                  bytes.size(),
                                  bytes.size() - 1,
                                  was + 1,
                                  was - 1,
                                  was * 2,
                                  was ^ std::uint64_t{1} << random() % 64,
                                  other,
                                  other + was,
                                  random() % 64};
  bytes.put(field, values[random() % std::size(values)]);
}

// The fields of an ELF file's header, of its segments and sections, and of the notes in both.
inline std::vector<Field> elf_fields(const FieldBytes& bytes, bool wide) {
  const std::size_t word = wide ? 8 : 4;
  std::vector<Field> fields = {
      {16, 2}, {18, 2}, {24, word}, {24 + word, word}, {24 + 2 * word, word}};
  const std::size_t tail = 24 + 3 * word + 4;  // e_ehsize
  for (std::size_t i = 0; i < 6; ++i) {
    fields.push_back({tail + 2 * i, 2});
  }
  const auto add_notes = [&](std::uint64_t begin, std::uint64_t size) {
    for (std::size_t count = 0; count < 64 && begin < bytes.size() && size >= 12; ++count) {
      for (std::size_t i = 0; i < 3; ++i) {
        fields.push_back({begin + 4 * i, 4});
      }
      const std::uint64_t name = (bytes.get({begin, 4}) + 3) & ~std::uint64_t{3};
      const std::uint64_t contents = (bytes.get({begin + 4, 4}) + 3) & ~std::uint64_t{3};
      for (std::uint64_t at = 0; at < contents && at < 32 * word; at += word) {
        fields.push_back({begin + 12 + name + at, word});
      }
      const std::uint64_t whole = 12 + name + contents;
      size = whole < size ? size - whole : 0;
      begin += whole;
    }
  };
  const std::uint64_t segments = bytes.get({24 + word, word});
  const std::uint64_t sections = bytes.get({24 + 2 * word, word});
  const std::size_t segment_size = wide ? 56 : 32;
  const std::size_t section_size = wide ? 64 : 40;
  for (std::uint64_t i = 0; i < bytes.get({tail + 4, 2}) && i < 64; ++i) {
    const std::size_t at = segments + i * segment_size;
    fields.push_back({at, 4});
    fields.push_back({at + (wide ? 4 : 24), 4});
    for (std::size_t part = 0; part < (wide ? 6U : 5U); ++part) {
      fields.push_back({at + (wide ? 8 : 4) + part * word, word});
    }
    if (bytes.get({at, 4}) == 4) {  // PT_NOTE
      add_notes(bytes.get({at + (wide ? 8 : 4), word}), bytes.get({at + (wide ? 32 : 16), word}));
    }
  }
  for (std::uint64_t i = 0; i < bytes.get({tail + 8, 2}) && i < 64; ++i) {
    const std::size_t at = sections + i * section_size;
    fields.push_back({at, 4});
    fields.push_back({at + 4, 4});
    for (std::size_t part = 0; part < 4; ++part) {
      fields.push_back({at + 8 + part * word, word});
    }
    fields.push_back({at + 8 + 4 * word, 4});
    fields.push_back({at + 12 + 4 * word, 4});
    fields.push_back({at + 16 + 4 * word, word});
    fields.push_back({at + 16 + 5 * word, word});
    if (bytes.get({at + 4, 4}) == 7) {  // SHT_NOTE
      add_notes(bytes.get({at + 8 + 2 * word, word}), bytes.get({at + 8 + 3 * word, word}));
    }
  }
  return fields;
}

// An ELF file behind the first `before` bytes: half of the mutations are of fields.
inline std::size_t mutate_elf(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                              std::size_t before) {
  std::mt19937 random(seed);
  if (random() % 2 == 0 || size < before + 64) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const std::span<std::uint8_t> file(data + before, size - before);
  FieldBytes bytes(file, file[5] == 2);
  const std::vector<Field> fields = elf_fields(bytes, file[4] != 1);
  for (unsigned i = random() % 3; i != ~0U; --i) {
    mutate_field(bytes, fields, random);
  }
  std::memcpy(file.data(), "\177ELF", 4);
  return size;
}

// Entries of .eh_frame or .debug_frame behind the first `before` bytes: one entry's contents change
// or grow, and its length goes with it.
inline std::size_t mutate_frames(std::uint8_t* data, std::size_t size, std::size_t most,
                                 unsigned seed, std::size_t before) {
  std::mt19937 random(seed);
  std::vector<Field> lengths;
  const FieldBytes all({data, size}, false);
  for (std::size_t at = before; at + 8 <= size && lengths.size() < 1000;) {
    lengths.push_back({at, 4});
    at += 4 + all.get({at, 4});
  }
  if (random() % 2 == 0 || lengths.empty()) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const Field length = lengths[random() % lengths.size()];
  const std::size_t begin = length.at + 4;
  const std::size_t old = std::min<std::size_t>(all.get(length), size - begin);
  std::vector<std::uint8_t> entry(data + begin, data + begin + old);
  const std::vector<std::uint8_t> behind(data + begin + old, data + size);
  const std::size_t room = std::min<std::size_t>(most - begin - behind.size(), old + 64);
  entry.resize(std::max(room, old));
  if (entry.empty()) {  // of a length of 0, and nothing fits in
    return LLVMFuzzerMutate(data, size, most);
  }
  entry.resize(LLVMFuzzerMutate(entry.data(), old, entry.size()));
  std::memcpy(data + begin, entry.data(), entry.size());
  std::copy(behind.begin(), behind.end(), data + begin + entry.size());
  FieldBytes({data, size}, false).put(length, entry.size());
  return begin + entry.size() + behind.size();
}

}  // namespace whocall::fuzz
