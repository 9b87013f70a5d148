// A file that takes the place of another gives no user more rights than the old file did, and keeps
// its extended attributes.
#include "os/files/attributes.hpp"

#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <span>
#include <string>
#include <vector>

#include "os/files/pending_file.hpp"
#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr const char* kList = "system.posix_acl_access";
constexpr const char* kListOfNewFiles = "system.posix_acl_default";

/// An access list: a user reads and writes, its group only reads, others have no rights.
std::string access_list() {
  const auto no_id = static_cast<__u32>(ACL_UNDEFINED_ID);
  const std::vector<posix_acl_xattr_entry> entries = {{ACL_USER_OBJ, 6, no_id},
                                                      {ACL_USER, 6, 12345},
                                                      {ACL_GROUP_OBJ, 4, no_id},
                                                      {ACL_MASK, 6, no_id},
                                                      {ACL_OTHER, 0, no_id}};
  const __u32 version = POSIX_ACL_XATTR_VERSION;
  std::string list(reinterpret_cast<const char*>(&version), sizeof version);
  list.append(reinterpret_cast<const char*>(entries.data()),
              entries.size() * sizeof(posix_acl_xattr_entry));
  return list;
}

/// The extended attribute `name` of `path`; empty if the file has none.
std::string attribute(const std::string& path, const char* name) {
  std::string value(XATTR_SIZE_MAX, '\0');
  const ssize_t n = ::getxattr(path.c_str(), name, value.data(), value.size());
  return value.substr(0, n < 0 ? 0 : static_cast<std::size_t>(n));
}

/// Sets an extended attribute; false where the process may not.
bool set_attribute(const std::string& path, const char* name, const std::string& value) {
  return ::setxattr(path.c_str(), name, value.data(), value.size(), 0) == 0;
}

mode_t mode_of(const std::string& path) {
  struct ::stat s{};
  EXPECT_EQ(::stat(path.c_str(), &s), 0) << path;
  return s.st_mode & 07777;
}

void replace(const std::string& path) {
  auto f = pending_file::create(path);
  ASSERT_TRUE(f) << f.error().message;
  ASSERT_TRUE(f->handle().write(std::as_bytes(std::span("new", 3)), 0));
  auto r = f->publish();
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(contents(path), "new");
}

TEST(Attributes, AReplacedFileKeepsItsAccessList) {
  const scratch dir;
  store(dir.file("out"), "old");
  ASSERT_TRUE(set_attribute(dir.file("out"), kList, access_list()));
  ASSERT_EQ(mode_of(dir.file("out")), mode_t{0660});
  replace(dir.file("out"));
  EXPECT_EQ(attribute(dir.file("out"), kList), access_list());
  EXPECT_EQ(mode_of(dir.file("out")), mode_t{0660});
}

// The directory's list would let the user 12345 write.
TEST(Attributes, AReplacedFileGetsNoListOfItsDirectory) {
  const scratch dir;
  store(dir.file("out"), "old");
  ASSERT_EQ(::chmod(dir.file("out").c_str(), 0660), 0);
  ASSERT_TRUE(set_attribute(dir.path(), kListOfNewFiles, access_list()));
  replace(dir.file("out"));
  EXPECT_EQ(attribute(dir.file("out"), kList), "");
  EXPECT_EQ(mode_of(dir.file("out")), mode_t{0660});
}

// A process without rights over owners stands for a user who may write to the directory.
TEST(Attributes, AGroupThatIsNotKeptTakesItsListAlong) {
  if (::geteuid() != 0) return;  // only root can make a file of another group
  const scratch dir;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0777), 0);
  store(dir.file("out"), "old");
  ASSERT_TRUE(set_attribute(dir.file("out"), kList, access_list()));
  ASSERT_EQ(::chown(dir.file("out").c_str(), 12345, 54321), 0);
  ASSERT_EQ(::setegid(6789), 0);
  ASSERT_EQ(::seteuid(6789), 0);
  replace(dir.file("out"));
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(::setegid(0), 0);
  EXPECT_EQ(attribute(dir.file("out"), kList), "");
  EXPECT_EQ(mode_of(dir.file("out")), mode_t{0600});
}

TEST(Attributes, AReplacedFileKeepsItsExtendedAttributes) {
  const scratch dir;
  store(dir.file("out"), "old");
  ASSERT_TRUE(set_attribute(dir.file("out"), "user.origin", "a sensor"));
  ASSERT_TRUE(set_attribute(dir.file("out"), "user.empty", ""));
  replace(dir.file("out"));
  EXPECT_EQ(attribute(dir.file("out"), "user.origin"), "a sensor");
  EXPECT_GE(::getxattr(dir.file("out").c_str(), "user.empty", nullptr, 0), 0);
}

// New contents do not get the old ones' right to act with the rights of root. Nothing is written:
// the kernel itself takes that right from a file that is.
TEST(Attributes, AReplacedFileLosesItsCapabilities) {
  const scratch dir;
  store(dir.file("out"), "old");
  const std::string raw = {0, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  if (!set_attribute(dir.file("out"), "security.capability", raw)) return;  // not root
  auto f = pending_file::create(dir.file("out"));
  ASSERT_TRUE(f && f->publish());
  EXPECT_EQ(contents(dir.file("out")), "");
  EXPECT_EQ(attribute(dir.file("out"), "security.capability"), "");
}

}  // namespace
}  // namespace isotherm::os
