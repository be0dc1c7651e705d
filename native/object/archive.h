// The members of a static library: the `ar` format, as <ar.h> and GNU binutils write it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_view.h"
#include "base/mapped_file.h"

namespace whocall {

struct ArchiveMember {
  std::string name;
  ByteView contents;
};

// Its members, in their order, without symbol indexes and tables of names.
class Archive {
 public:
  // Maps `path`. A file that is an ELF file itself is an archive of one member. Throws Error: not
  // an archive, a thin one (its members lie elsewhere), a damaged one.
  explicit Archive(const std::string& path);

  [[nodiscard]] const std::vector<ArchiveMember>& members() const { return members_; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<ArchiveMember> members_;
};

}  // namespace whocall
