// Which arguments a function takes, by what it reads of what its caller left for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arguments/argument_place.h"
#include "arguments/function_values.h"

namespace whocall {

struct Parameter {
  ArgumentPlace place{};
  std::uint8_t size = 0;   // bytes that are read; 0: it is not, but a later one is
  bool is_signed = false;  // they are widened with their sign
};

struct Parameters {
  // By position, of integers and pointers. One that no instruction reads cannot be told from none,
  // so that there may be fewer than there are.
  std::vector<Parameter> list;
  bool variadic = false;  // and it may get more
};

// What a function that is called or jumped to takes, as far as that is known: by its address.
class KnownParameters {
 public:
  KnownParameters() = default;
  KnownParameters(const KnownParameters&) = delete;
  KnownParameters& operator=(const KnownParameters&) = delete;
  virtual ~KnownParameters() = default;

  // Null where nothing is known.
  virtual const Parameters* taken_at(const FunctionValues::Step& call, Address next) = 0;
};

// `values` has to be of a function that is entered at its first byte. A miss where it takes them in
// a way that no conventions tell of.
std::optional<Parameters> parameters_of(FunctionValues& values, const ProcessImage& process,
                                        KnownParameters& others);

}  // namespace whocall
