// The places in the source that functions of one file name in their code: each function is looked
// at when it is asked for.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/inferred/code_places.h"
#include "symbols/inferred/function_traits.h"

namespace whocall {

struct SourceHint {
  std::string file{};  // as the compiler was given it
  std::uint32_t line = 0;
  std::uint32_t column = 0;  // 0: not told
  Address address = 0;       // link address of the instruction that names it
  bool near = false;         // it may be told of the address that was asked for
};

// May be used from threads.
class SourcePlaces {
 public:
  explicit SourcePlaces(std::shared_ptr<const ElfFile> file);

  // Those of the function in `range`, and of its parts that lie elsewhere, in the order of their
  // addresses; at most one is near `link`. Link addresses.
  std::vector<SourceHint> of(AddressRange function, Address link);

  // What tells of the function in `range`, which nothing names. Looks through all code.
  FunctionTraits traits_of(AddressRange function);

 private:
  const PanicPlaces& panics();
  const std::vector<CodePlace>& places_of(AddressRange function);

  std::shared_ptr<const ElfFile> file_;
  const Architecture* arch_;  // null where nothing can be said of the code
  std::mutex mutex_;          // guards what follows
  std::optional<PanicPlaces> panics_;
  std::unordered_map<Address, std::vector<CodePlace>> known_;  // by start of the function
  std::unordered_map<Address, FunctionTraits> traits_;         // likewise
};

// Those of `file`; known ones where they were asked for before.
std::shared_ptr<SourcePlaces> source_places_of(const std::shared_ptr<const ElfFile>& file);

}  // namespace whocall
