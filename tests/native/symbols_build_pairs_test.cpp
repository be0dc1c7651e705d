// Functions of two builds, by hand: what is a proof, and what is none.
#include <doctest/doctest.h>

#include <vector>

#include "symbols/signatures/build_pairs.h"
#include "symbols/signatures/pair_state.h"

namespace whocall::test {
namespace {

constexpr std::uint32_t kNone = kNoPair;

// A build in the making: functions with a code each and what they call.
class Build {
 public:
  // `code` stands for the hash; the sketch follows it, but for functions of the same `family`,
  // which are much alike.
  Build& function(std::uint64_t code, std::uint32_t weight,
                  const std::vector<LinkedReference>& references = {}, std::uint32_t family = 0) {
    LinkedFunction made;
    made.code = code;
    made.size = weight;
    made.weight = weight;
    made.sketch.fill(family != 0 ? family : static_cast<std::uint32_t>(code));
    made.sketch[0] = static_cast<std::uint32_t>(code);
    made.first_reference = static_cast<std::uint32_t>(references_.size());
    made.references = static_cast<std::uint32_t>(references.size());
    references_.insert(references_.end(), references.begin(), references.end());
    functions_.push_back(made);
    return *this;
  }
  [[nodiscard]] LinkedBuild get() const { return {functions_, references_}; }

 private:
  std::vector<LinkedFunction> functions_;
  std::vector<LinkedReference> references_;
};

LinkedReference calls(std::uint64_t function) { return {LinkedKind::function, function}; }
LinkedReference says(std::uint64_t text) { return {LinkedKind::text, text}; }

std::vector<std::uint32_t> pairs_of(const Build& known, const Build& program,
                                    const std::vector<IndexPair>& sure = {}) {
  std::vector<std::uint32_t> found;
  for (const BuildPair& each : pair_builds(known.get(), program.get(), sure)) {
    found.push_back(each.known);
  }
  return found;
}

using Expected = std::vector<std::uint32_t>;

TEST_CASE("build pairs: much code that stands once is a proof, in any order; little is none") {
  const Build known = Build().function(1, 200).function(2, 200).function(3, 20);
  const Build program = Build().function(3, 20).function(2, 200).function(1, 200);
  CHECK(pairs_of(known, program) == Expected{kNone, 1, 0});
}

TEST_CASE("build pairs: of two with the same code neither is told by it") {
  const Build known = Build().function(1, 200).function(1, 200);
  CHECK(pairs_of(known, Build().function(1, 200)) == Expected{kNone});
  CHECK(pairs_of(Build().function(1, 200), known) == Expected{kNone, kNone});
  CHECK(pairs_of(known, known) == Expected{kNone, kNone});
}

TEST_CASE("build pairs: what they refer to tells them") {
  const Build known = Build().function(1, 200, {says(7)}).function(1, 200, {says(8)});
  const Build program = Build().function(1, 200, {says(8)}).function(1, 200, {says(9)});
  CHECK(pairs_of(known, program) == Expected{1, kNone});
}

TEST_CASE("build pairs: who is known tells short ones that it calls") {
  const Build known = Build().function(1, 200, {calls(1)}).function(2, 8);
  const Build program = Build().function(2, 8).function(1, 200, {calls(0)});
  CHECK(pairs_of(known, program) == Expected{1, 0});
}

TEST_CASE("build pairs: one call is not enough where several have the code, two are") {
  const Build known = Build()
                          .function(1, 200, {calls(3)})
                          .function(4, 200, {calls(3)})
                          .function(2, 8)
                          .function(2, 8);
  const Build one =
      Build().function(1, 200, {calls(3)}).function(2, 8).function(9, 99).function(2, 8);
  CHECK(pairs_of(known, one) == Expected{0, kNone, kNone, kNone});
  const Build both = Build()
                         .function(2, 8)
                         .function(2, 8)
                         .function(1, 200, {calls(0)})
                         .function(4, 200, {calls(0)});
  CHECK(pairs_of(known, both)[0] == 3);
  CHECK(pairs_of(known, both)[1] == kNone);
}

TEST_CASE("build pairs: callers that do not agree name nothing") {
  const Build known = Build()
                          .function(1, 200, {calls(2)})
                          .function(4, 200, {calls(3)})
                          .function(2, 100, {}, 77)
                          .function(3, 100, {}, 77);
  const auto callers = [] {
    return Build().function(1, 200, {calls(2)}).function(4, 200, {calls(2)});
  };
  CHECK(pairs_of(known, callers().function(5, 100, {}, 77))[2] == kNone);
}

TEST_CASE("build pairs: a changed function is told by its caller if it is much alike") {
  const Build known = Build().function(1, 200, {calls(1)}).function(2, 100, {}, 77);
  CHECK(pairs_of(known, Build().function(1, 200, {calls(1)}).function(3, 110, {}, 77)) ==
        Expected{0, 1});
  CHECK(pairs_of(known, Build().function(1, 200, {calls(1)}).function(3, 110, {}, 78)) ==
        Expected{0, kNone});
  CHECK(pairs_of(known, Build().function(1, 200, {calls(1)}).function(3, 300, {}, 77)) ==
        Expected{0, kNone});
  // Not where its code stands elsewhere: then one of the two says something wrong.
  CHECK(pairs_of(known,
                 Build().function(1, 200, {calls(1)}).function(3, 110, {}, 77).function(2, 100)) ==
        Expected{kNone, kNone, kNone});
}

TEST_CASE("build pairs: a changed function is told by its neighbours") {
  const Build known = Build().function(1, 200).function(2, 100, {}, 77).function(3, 200);
  CHECK(pairs_of(known, Build().function(1, 200).function(9, 100, {}, 77).function(3, 200)) ==
        Expected{0, 1, 2});
  CHECK(pairs_of(known, Build()
                            .function(1, 200)
                            .function(9, 100, {}, 77)
                            .function(8, 100, {}, 77)
                            .function(3, 200)) == Expected{0, kNone, kNone, 2});
  CHECK(pairs_of(known, Build().function(1, 200).function(3, 200).function(9, 100, {}, 77)) ==
        Expected{0, 2, kNone});
}

TEST_CASE("build pairs: functions that have changed places have no names, nor has who calls them") {
  const Build known =
      Build().function(1, 200, {calls(1), calls(2)}).function(2, 200).function(3, 200);
  const Build program =
      Build().function(1, 200, {calls(1), calls(2)}).function(3, 200).function(2, 200);
  CHECK(pairs_of(known, program) == Expected{kNone, kNone, kNone});
}

TEST_CASE("build pairs: what has got another one around it may have lost its name to that") {
  const Build known = Build().function(1, 200, {calls(1)}).function(2, 200);
  const Build program =
      Build().function(1, 200, {calls(2)}).function(2, 200).function(5, 9, {calls(1)});
  CHECK(pairs_of(known, program)[1] == kNone);
}

TEST_CASE("build pairs: what is given stays, and is the beginning of more") {
  const Build known = Build().function(1, 10, {calls(1)}).function(2, 8);
  CHECK(pairs_of(known, Build().function(1, 10, {calls(1)}).function(2, 8), {{0, 0}}) ==
        Expected{0, 1});
}

TEST_CASE("build pairs: the longest ascending part of a row") {
  const std::vector<std::size_t> row{5, 1, 9, 2, 3, 0};
  CHECK(longest_ascending(row) == std::vector<std::size_t>{1, 3, 4});
  CHECK(longest_ascending({}).empty());
}

}  // namespace
}  // namespace whocall::test
