// Hostile Go programs: a table is refused, or answers every question about any function.
#include <cstddef>
#include <cstdint>

#include "fuzz.h"
#include "golang/go_pclntab.h"
#include "mutators.h"

namespace {

using namespace whocall;

constexpr Address kTable = 0x500000;

void ask(const GoPclntab& table, const GoFunction& function) {
  std::size_t sum = 0;
  for (const char letter : function.name) {
    sum += static_cast<unsigned char>(letter);
  }
  for (const std::uint32_t values :
       {function.sp_table, function.file_table, function.line_table, function.inline_index_table}) {
    for (const Address at : {function.range.begin, function.range.end - 1, function.range.end}) {
      const auto step = table.step_at(values, function.range.begin, at);
      fuzz::demand(!step || step->range.contains(at));
      const auto value = table.value_at(values, function.range.begin, at);
      sum += table.file_name(function, value.value_or(0)).size();
    }
  }
  volatile std::size_t kept = sum;
  (void)kept;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const Endian endian = input.byte() % 2 == 0 ? Endian::little : Endian::big;
  const Address text = input.number(4);
  const std::vector<std::byte> own = input.copy();
  const auto table = GoPclntab::parse(ByteView(own, endian), kTable, text);
  if (!table) {
    return 0;
  }
  for (std::uint64_t i = 0; i <= table->count() && i < 200; ++i) {
    (void)table->entry(i);
    if (const auto function = table->function(i)) {
      ask(*table, *function);
      if (const auto found = table->find(function->range.begin)) {
        fuzz::demand(found->range.contains(function->range.begin));
      }
    }
  }
  (void)table->find(~Address{0});
  (void)table->name_at(text);
  return 0;
}

// The magic, the quantum and the size of pointers are what anything else hangs on.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 2 == 0 || size < 5 + 8) {
    return LLVMFuzzerMutate(data, size, most);
  }
  std::vector<whocall::fuzz::Field> fields;
  const std::size_t word = data[5 + 7] == 4 ? 4 : 8;
  for (std::size_t at = 5 + 8; at + word <= size && fields.size() < 300; at += word) {
    fields.push_back({at, word});
    fields.push_back({at, 4});
  }
  whocall::fuzz::FieldBytes bytes({data, size}, data[0] % 2 != 0);
  whocall::fuzz::mutate_field(bytes, fields, random);
  constexpr std::uint32_t kMagics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
  if (random() % 8 == 0) {
    bytes.put({5, 4}, kMagics[random() % 4]);
  }
  return size;
}
