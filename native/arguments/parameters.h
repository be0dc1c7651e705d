// Which arguments a function takes, by what it reads of what its caller left for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arguments/argument_use.h"
#include "arguments/function_values.h"

namespace whocall {

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
