// Files that are read because they lie where one looks, and who could have put them there.
#pragma once

#include <sys/stat.h>

namespace whocall::runtime {

// Opens a regular file to be read, and says what it is; -1 where there is none. A pipe with a name
// or a device is not opened: one waits for a writer or does something.
int open_to_read(const char* path, struct stat& status);

// Whether nobody but root and those who may write `program` itself could have written `file`: its
// owner is one of them, and a group may write it only where it may write the program. Asked of
// what is open; the folder that it lies in is not looked at.
bool is_trusted(const struct stat& file, const struct stat& program);

// Of whose files are believed in a privileged program: the program, whatever its path leads to by
// now. Where nobody can tell, root's alone.
struct stat own_program();

}  // namespace whocall::runtime
