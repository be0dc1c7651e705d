// Files that are opened once, and what is known of them.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/error.h"
#include "object/open_files.h"
#include "object_elf_images.h"
#include "process_core_builder.h"

namespace whocall::testing {
namespace {

// `more` bytes behind it are nobody's.
Bytes small_elf_image(std::size_t more = 0) {
  Bytes image = image_with({});
  image.resize(image.size() + more);
  return image;
}

TEST_CASE("open files: a path is opened once, and again when the file has changed") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("program", small_elf_image());
  const auto file = open_shared(path);
  CHECK(open_shared(path) == file);
  CHECK(directory.write("program", small_elf_image(1)) == path);
  const auto changed = open_shared(path);
  CHECK(changed != file);
  CHECK(open_shared(path) == changed);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(open_shared(path), Error);
}

TEST_CASE("open files: what is known of a file is kept beside it, as long as the file is") {
  const TemporaryDirectory directory;
  const auto file = open_shared(directory.write("program", small_elf_image()));
  const auto knowledge = knowledge_of(*file);
  REQUIRE(knowledge != nullptr);
  CHECK(knowledge->get<int>([] { return 7; }) == 7);
  CHECK(knowledge_of(*file)->get<int>([] { return 8; }) == 7);
  close_kept_files();
  CHECK(knowledge_of(*file) == nullptr);
  CHECK(knowledge->get<int>([] { return 9; }) == 7);  // whoever uses it still has it
}

TEST_CASE("open files: a file in memory is nobody else's") {
  CHECK(knowledge_of(*ElfFile::from_memory(small_elf_image(), "memory")) == nullptr);
}

TEST_CASE("attachments: what could not be made is made by the next who asks") {
  Attachments attachments;
  CHECK_THROWS_AS(attachments.get<int>([]() -> int { throw Error("file", "is bad"); }), Error);
  CHECK(attachments.get<int>([] { return 1; }) == 1);
}

}  // namespace
}  // namespace whocall::testing
