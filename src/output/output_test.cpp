// SPDX-License-Identifier: BSD-3-Clause
#include "output/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "base/try.hpp"
#include "output/outputs_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace testing_outputs;

TEST(OutputFolder, appears_only_on_commit) {
  const TempFolder root;
  auto output = OutputFolder::create(root / "out", {});
  ASSERT_TRUE(output) << output.error().message;
  put(output->path() / "a");
  EXPECT_FALSE(fs::exists(root / "out"));
  ASSERT_TRUE(output->commit());
  EXPECT_TRUE(fs::exists(root / "out" / "a"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST(OutputFolder, leaves_nothing_without_commit) {
  const TempFolder root;
  {
    auto output = OutputFolder::create(root / "out", {});
    ASSERT_TRUE(output);
    put(output->path() / "a");
  }
  EXPECT_EQ(entries(root.path()), 0);
}

TEST(OutputFolder, makes_no_folder_around_it) {
  const TempFolder root;
  const auto output = OutputFolder::create(root / "deep" / "out", {});
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("there is no folder"), std::string::npos);
  EXPECT_FALSE(fs::exists(root / "deep"));
}

TEST(OutputFolder, lies_in_no_folder_that_was_named_for_an_archive) {
  const TempFolder root;
  fs::create_directory(root / "experiment");
  auto inputs = std::make_shared<Inputs>();
  inputs->add_home(root / "experiment");
  const OutputRule rule{.force = false, .inputs = inputs};
  EXPECT_FALSE(OutputFolder::check(root / "experiment" / "out", rule));
  EXPECT_TRUE(OutputFile::check(root / "experiment" / "page.html", rule));
  EXPECT_TRUE(OutputFolder::check(root / "out", rule));
}

TEST(OutputFolder, replaces_an_unchanged_result_only_with_force) {
  const TempFolder root;
  ASSERT_TRUE(make_folder(root / "out", "a"));
  const auto refused = make_folder(root / "out", "b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::output);
  ASSERT_TRUE(make_folder(root / "out", "b", true));
  EXPECT_TRUE(fs::exists(root / "out" / "b"));
  EXPECT_FALSE(fs::exists(root / "out" / "a"));
  EXPECT_EQ(entries(root.path()), 1);
}

TEST(Outputs, force_is_advised_only_where_it_helps) {
  const TempFolder root;
  ASSERT_TRUE(make_folder(root / "out", "a"));
  const auto says = [](const Result<void>& refused, const char* part) {
    return !refused && refused.error().message.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(OutputFolder::check(root / "out", {}), "--force"));
  put(root / "out" / "mine");
  EXPECT_FALSE(says(OutputFolder::check(root / "out", {}), "--force"));
  EXPECT_TRUE(says(OutputFolder::check(root / "out", {}), "or remove it"));
  put(root / "page.html");
  EXPECT_FALSE(says(OutputFile::check(root / "page.html", {}), "--force"));
}

TEST(Outputs, a_dash_names_none) {
  for (const auto& refused : {OutputFolder::check("-", {}), OutputFile::check("-", {})}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_NE(refused.error().message.find("standard output"), std::string::npos);
  }
}

TEST(OutputFolder, replaces_a_copy_and_what_has_lost_files) {
  const TempFolder root;
  ASSERT_TRUE(make_folder(root / "out", "a"));
  fs::rename(root / "out", root / "moved");
  ASSERT_TRUE(make_folder(root / "moved", "b", true));
  fs::remove(root / "moved" / "b");
  EXPECT_TRUE(make_folder(root / "moved", "a", true));
  fs::create_directory(root / "empty");
  EXPECT_TRUE(make_folder(root / "empty", "a", true));
}

TEST(OutputFolder, names_what_was_added_or_changed) {
  const TempFolder root;
  const auto expect_refused = [&](const std::string& part) {
    const auto refused = make_folder(root / "out", "b", true);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().message.find("partial"), std::string::npos);
    EXPECT_EQ(entries(root.path()), 1);
  };
  ASSERT_TRUE(make_folder(root / "out", "a"));
  put(root / "out" / ".secret");
  expect_refused("out/.secret was added or changed");
  fs::remove(root / "out" / ".secret");
  put(root / "out" / "a", "CONTENT");  // as many bytes; some systems tell times to 4 ms only
  fs::last_write_time(root / "out" / "a", fs::file_time_type::clock::now() + 1s);
  expect_refused("out/a was added or changed");
  fs::remove(root / "out" / "a");
  fs::create_directory(root / "out" / "a");
  expect_refused("out/a was added or changed");
  fs::remove(root / "out" / k_folder_mark);
  expect_refused("no mark");
}

TEST(OutputFolder, an_edited_mark_is_none) {
  const TempFolder root;
  const fs::path mark = root / "out" / ".entrain-result";
  ASSERT_TRUE(make_folder(root / "out", "a"));
  const std::string written = content_of(mark);
  const std::string bytes = std::to_string(fs::file_size(root / "out" / "a"));
  for (const std::string& edited :
       {written + "\n", written.substr(1), bytes + " b\n" + written, std::string()}) {
    put(mark, edited);
    EXPECT_FALSE(make_folder(root / "out", "b", true)) << edited;
    EXPECT_EQ(content_of(mark), edited);
  }
  put(mark, written);
  EXPECT_TRUE(make_folder(root / "out", "b", true));
}

TEST(OutputFolder, refuses_what_is_no_folder) {
  const TempFolder root;
  put(root / "file");
  fs::create_symlink("nowhere", root / "dangling");
  ASSERT_TRUE(make_folder(root / "out", "a"));
  fs::create_directory_symlink("out", root / "link");
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  for (const char* name : {"file", "dangling", "link", "fifo"}) {
    for (const bool force : {false, true}) {
      EXPECT_FALSE(make_folder(root / name, "a", force)) << name;
    }
  }
  EXPECT_EQ(content_of(root / "file"), "content");
  EXPECT_TRUE(fs::is_symlink(root / "link"));
}

TEST(OutputFolder, leaves_alone_what_appeared_meanwhile) {
  for (const bool force : {false, true}) {
    const TempFolder root;
    auto output = OutputFolder::create(root / "out", {.force = force, .inputs = {}});
    ASSERT_TRUE(output);
    fs::create_directory(root / "out");
    put(root / "out" / "mine");
    EXPECT_FALSE(output->commit());
    EXPECT_TRUE(fs::exists(root / "out" / "mine"));
  }
}

TEST(OutputFolder, an_attached_folder_stays_when_its_helper_ends) {
  const TempFolder root;
  auto output = OutputFolder::create(root / "out", {});
  ASSERT_TRUE(output);
  { const auto view = OutputFolder::attach(output->path(), output->target()); }
  EXPECT_TRUE(fs::exists(output->path()));
}

TEST(Staging, removes_what_a_killed_process_left) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  ASSERT_TRUE(fs::exists(left / "a"));
  EXPECT_EQ(removed_for(root / "another"), 0u);
  EXPECT_TRUE(fs::exists(left));
  EXPECT_EQ(removed_for(root / "out"), 1u);
  EXPECT_FALSE(fs::exists(left));
}

TEST(Staging, leaves_alone_what_may_be_in_use) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  {  // somebody holds it, as the process does that another machine calls by that number
    const File holder(::open(left.c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(::flock(holder.descriptor(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(removed_for(root / "out"), 0u);
  }
  const std::string name = left.filename().string();
  const std::size_t host = name.find("partial-") + 8;
  std::string other = name;
  other[host] = other[host] == '0' ? '1' : '0';
  fs::rename(left, root / other);  // of another machine
  EXPECT_EQ(removed_for(root / "out"), 0u);
  const std::size_t process = name.find('-', host) + 1;
  other = name.substr(0, process) + std::to_string(::getpid()) + "-99";
  fs::rename(*fs::directory_iterator(root.path()), root / other);  // of a living process
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_TRUE(fs::exists(root / other / "a"));
}

TEST(Staging, leaves_alone_what_only_has_such_a_name) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  fs::remove(left / k_folder_mark);
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_TRUE(fs::exists(left / "a"));
}

TEST(Staging, leaves_alone_what_no_process_can_have_left) {
  const TempFolder root;
  fs::path left = left_by_killed_process(root / "out");
  const std::string name = left.filename().string();
  const std::string host = name.substr(0, name.find('-', name.find("partial-") + 8));
  for (const char* rest : {"", "-", "-1", "-x-1", "--1", "-1-", "-1-x", "-12345678901-1",
                           "-1-1.new", "-99999999-1.old.old"}) {
    const fs::path renamed = root / (host + rest);
    fs::rename(left, renamed);
    left = renamed;
    EXPECT_EQ(removed_for(root / "out"), 0u) << rest;
    EXPECT_TRUE(fs::exists(left / "a")) << rest;
  }
  fs::rename(left, root / name);
  EXPECT_EQ(removed_for(root / "out"), 1u);
}

TEST(Staging, removes_an_empty_folder_but_no_file_or_link) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  fs::remove_all(left);
  fs::create_directory(left);  // its process was killed before it could mark it
  EXPECT_EQ(removed_for(root / "out"), 1u);
  put(left, "mine");
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_EQ(content_of(left), "mine");
  fs::remove(left);
  fs::create_directory(root / "mine");
  fs::create_directory_symlink("mine", left);
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_TRUE(fs::is_symlink(left));
}

TEST(Staging, removes_what_a_process_left_that_was_killed_while_it_replaced_a_file) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  fs::remove(left / "a");
  ASSERT_TRUE(mark_replacing(left));
  ASSERT_TRUE(make_file(left / "result", "the old one"));
  const auto removed = [&] {
    const auto output = OutputFile::create(root / "out", {.force = true, .inputs = {}});
    return output ? output->leftovers_removed() : ~std::uint64_t{0};
  };
  EXPECT_EQ(removed(), 0u);  // it may be all that is left
  put(root / "out", "");     // which only reserves the name
  EXPECT_EQ(removed(), 0u);
  fs::remove(root / "out");
  ASSERT_TRUE(make_file(left / "new", "a result"));
  fs::rename(left / "new", root / "out");
  put(left / "mine");  // nobody knows how that came there
  EXPECT_EQ(removed(), 0u);
  EXPECT_TRUE(fs::exists(left / "mine"));
  fs::remove(left / "mine");
  EXPECT_EQ(removed(), 1u);
  EXPECT_FALSE(fs::exists(left));
}

TEST(Staging, keeps_a_result_that_was_set_aside_until_there_is_another) {
  const TempFolder root;
  const fs::path left = left_by_killed_process(root / "out");
  const fs::path aside = left.string() + ".old";
  ASSERT_TRUE(make_folder(root / "result", "a"));
  fs::remove_all(left);
  fs::rename(root / "result", aside);
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_TRUE(fs::exists(aside / "a"));
  fs::create_directory(root / "out");  // may only reserve the name
  EXPECT_EQ(removed_for(root / "out"), 0u);
  EXPECT_TRUE(fs::exists(aside / "a"));
  fs::remove(root / "out");
  ASSERT_TRUE(make_folder(root / "out", "b"));
  EXPECT_FALSE(fs::exists(aside));
}

TEST(OutputFile, appears_only_on_commit) {
  const TempFolder root;
  auto file = OutputFile::create(root / "out", {});
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->write("text"));
  EXPECT_FALSE(fs::exists(root / "out"));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(root / "out"), "text");
  { auto again = OutputFile::create(root / "other", {}); }
}

TEST(OutputFile, leaves_nothing_hidden) {
  const TempFolder root;
  { ASSERT_TRUE(OutputFile::create(root / "dropped", {})); }
  ASSERT_TRUE(make_file(root / "out", "1"));
  ASSERT_TRUE(make_file(root / "out", "2", true));
  EXPECT_FALSE(make_file(root / "out", "3"));
  EXPECT_EQ(entries(root.path()), 1);
  EXPECT_EQ(content_of(root / "out").back(), '2');
}

TEST(OutputFile, replaces_marked_and_unchanged_files_only) {
  const TempFolder root;
  put(root / "foreign", "written by entrain 0.1.0 crc32 00000000, says somebody");
  EXPECT_FALSE(make_file(root / "foreign", "", true));
  put(root / "empty", "");
  EXPECT_TRUE(make_file(root / "empty", "", true));
  ASSERT_TRUE(make_file(root / "out", "text"));
  std::ofstream(root / "out", std::ios::app) << "a line of mine";
  const auto refused = make_file(root / "out", "", true);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("changed"), std::string::npos);
  EXPECT_TRUE(content_of(root / "out").ends_with("mine"));
}

TEST(OutputFile, an_unmarked_file_is_never_replaced) {
  const TempFolder root;
  ASSERT_TRUE(write_output(root / "out", "no mark"));
  EXPECT_FALSE(make_file(root / "out", "", true));
}

TEST(OutputFile, a_taken_file_is_marked_by_an_attribute) {
  const TempFolder root;
  const auto make = [&](const std::string& text, bool force) -> Result<void> {
    TRY_ASSIGN(OutputFile file, OutputFile::create(root / "out", {.force = force, .inputs = {}}));
    fs::create_directory(file.workshop());
    put(file.workshop() / "any", text);
    TRY(file.take(file.workshop() / "any"));
    return file.commit();
  };
  ASSERT_TRUE(make("first", false));
  EXPECT_EQ(content_of(root / "out"), "first");
  EXPECT_EQ(entries(root.path()), 1);
  if (::getxattr((root / "out").c_str(), "user.entrain.result", nullptr, 0) < 0) {
    GTEST_SKIP() << "this file system keeps no attributes";
  }
  EXPECT_FALSE(make("second", false));
  ASSERT_TRUE(make("second", true));
  EXPECT_EQ(content_of(root / "out"), "second");
  std::ofstream(root / "out", std::ios::app) << "mine";
  EXPECT_FALSE(make("third", true));
  fs::copy_file(root / "out", root / "copy");
  EXPECT_EQ(content_of(root / "out"), "secondmine");
}

TEST(OutputFile, leaves_alone_what_appeared_meanwhile) {
  for (const bool force : {false, true}) {
    const TempFolder root;
    auto file = OutputFile::create(root / "out", {.force = force, .inputs = {}});
    ASSERT_TRUE(file);
    put(root / "out", "mine");
    EXPECT_FALSE(file->commit());
    EXPECT_EQ(content_of(root / "out"), "mine");
  }
}

TEST(OutputFile, of_two_files_none_appears_alone) {
  for (const bool replaces : {false, true}) {
    const TempFolder root;
    if (replaces) {
      ASSERT_TRUE(make_file(root / "first", "old"));
    }
    const OutputRule rule{.force = true, .inputs = {}};
    auto first = OutputFile::create(root / "first", rule);
    auto second = OutputFile::create(root / "second", rule);
    ASSERT_TRUE(first && first->write("new") && second);
    put(root / "second", "mine");
    EXPECT_FALSE(OutputFile::commit_both(*first, *second));
    EXPECT_EQ(fs::exists(root / "first"), replaces);
    EXPECT_EQ(content_of(root / "first").ends_with("old"), replaces);
    EXPECT_EQ(content_of(root / "second"), "mine");
    fs::remove(root / "second");
    auto again = OutputFile::create(root / "first", rule);
    auto pair = OutputFile::create(root / "second", rule);
    ASSERT_TRUE(again && again->write("new") && pair);
    EXPECT_TRUE(OutputFile::commit_both(*again, *pair));
    EXPECT_EQ(content_of(root / "first"), "new");
    EXPECT_TRUE(fs::exists(root / "second"));
  }
}

TEST(Outputs, of_one_run_have_names_of_their_own) {
  const TempFolder root;
  fs::create_directory(root / "real");
  fs::create_directory_symlink("real", root / "link");
  const auto error_of = [&](const fs::path& a, const fs::path& b) {
    const auto result = check_distinct({{"-a", a}, {"-b", b}});
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(error_of(root / "x", root / "y"), "");
  EXPECT_EQ(error_of({}, {}), "");
  EXPECT_EQ(error_of(root / "x", {}), "");
  EXPECT_EQ(error_of(root / "xy", root / "x"), "");
  for (const fs::path& same : {root / "x", root / "y" / ".." / "x", root / "." / "x" / ""}) {
    EXPECT_NE(error_of(root / "x", same).find("-a and -b both name"), std::string::npos) << same;
  }
  EXPECT_NE(error_of(root / "link" / "x", root / "real" / "x").find("both name"),
            std::string::npos);
  EXPECT_NE(error_of(root / "x" / "y", root / "x").find("-a names"), std::string::npos);
  EXPECT_NE(error_of(root / "x", root / "x" / "y" / "z").find("-b names"), std::string::npos);
}

TEST(OutputFile, foreign_text_like_a_mark_stays_as_it_is) {
  const TempFolder root;
  const std::string foreign = "written by entrain 0.1.0 crc32 00000000\n";
  ASSERT_TRUE(write_output(root / "plain.csv", foreign));
  EXPECT_EQ(content_of(root / "plain.csv"), foreign);
  ASSERT_TRUE(write_output(root / "t.csv", file_mark() + '\n' + foreign));
  EXPECT_TRUE(content_of(root / "t.csv").ends_with('\n' + foreign));
  EXPECT_TRUE(check_own_file(root / "t.csv"));
}

TEST(OutputFile, a_replaced_file_keeps_its_permissions) {
  const TempFolder root;
  ASSERT_TRUE(make_file(root / "t.csv", "a"));
  ASSERT_EQ(::chmod((root / "t.csv").c_str(), 0640), 0);
  ASSERT_TRUE(make_file(root / "t.csv", "b", true));
  EXPECT_EQ(fs::status(root / "t.csv").permissions(), fs::perms(0640));
}

TEST(OutputFolder, a_link_is_none_behind_dots) {
  const TempFolder root;
  ASSERT_TRUE(make_folder(root / "real", "a"));
  fs::create_directory(root / "d");
  fs::create_directory_symlink("real", root / "link");
  EXPECT_FALSE(make_folder(root / "d" / ".." / "link", "b", true));
  EXPECT_TRUE(fs::exists(root / "real" / "a"));
}

TEST(Staging, long_names_do_not_share_leftovers) {
  const TempFolder root;
  const std::string name(200, 'n');
  const fs::path left = left_by_killed_process(root / (name + "A"));
  EXPECT_EQ(removed_for(root / (name + "B")), 0u);
  EXPECT_TRUE(fs::exists(left));
  EXPECT_EQ(removed_for(root / (name + "A")), 1u);
}

TEST(OutputFile, refuses_what_is_no_file) {
  const TempFolder root;
  ASSERT_TRUE(make_file(root / "own", ""));
  fs::create_symlink("own", root / "link");
  fs::create_directory(root / "folder");
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  for (const fs::path& path : {root / "link", root / "folder", root / "fifo", root / "folder/",
                               root / "none" / "out", fs::path("/dev/null"), fs::path("")}) {
    for (const bool force : {false, true}) EXPECT_FALSE(make_file(path, "", force)) << path;
  }
  EXPECT_TRUE(fs::is_symlink(root / "link"));
  EXPECT_TRUE(fs::is_fifo(root / "fifo"));
}

TEST(Outputs, are_refused_by_what_stands_there) {
  const TempFolder root;
  fs::create_directory(root / "folder");
  put(root / "file");
  fs::create_symlink("nowhere", root / "link");
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  (root / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  const File socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto expect = [](const Result<void>& refused, const std::string& part) {
    ASSERT_FALSE(refused) << part;
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
  };
  expect(OutputFile::check(root / "folder", {}), "is a folder, which a file does not replace");
  expect(OutputFolder::check(root / "file", {}), "is a file, which a folder does not replace");
  expect(OutputFile::check(root / "link", {}), "is a symbolic link");
  expect(OutputFile::check(root / "fifo", {}), "is a FIFO");
  expect(OutputFolder::check(root / "socket", {}), "is a socket");
  expect(OutputFile::check("/dev/null", {}), "is a device");
  expect(OutputFile::check(root / "file" / "out", {}), "file is no folder; choose another name");
  expect(OutputFolder::check((root / "file" / "out").string() + "/", {}), "file is no folder");
  expect(OutputFile::check(root / "none" / "out", {}), "make it first");
  expect(OutputFile::check(root / "out/", {}), "names no file");
  expect(OutputFolder::check("", {}), "empty name");
  expect(OutputFolder::check("/", {}), "/ exists already; choose another name, or remove it");
  expect(OutputFolder::check(root / "folder" / "..", {}), "exists already");
  expect(OutputFile::check(root / "file", {.force = true, .offers_force = true, .inputs = {}}),
         "file is not replaced, because it has no mark");
}

TEST(Outputs, of_a_folder_that_is_gone_need_a_path_from_the_root) {
  const fs::path before = fs::current_path();
  {
    const TempFolder gone;
    fs::current_path(gone.path());
  }
  const auto refused = OutputFile::check("out", {});
  const auto both = check_distinct({{"-a", "x"}, {"-b", "y"}});
  fs::current_path(before);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("cannot tell where out is"), std::string::npos);
  EXPECT_FALSE(both);
}

TEST(OutputFile, is_no_input) {
  const TempFolder root;
  ASSERT_TRUE(make_file(root / "in", ""));
  auto inputs = std::make_shared<Inputs>();
  inputs->add_file(root / "in");
  const auto refused = OutputFile::check(root / "in", {.force = true, .inputs = inputs});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_NE(refused.error().message.find("is the input"), std::string::npos);
}

TEST(OutputFile, takes_a_name_as_long_as_the_system_does) {
  const TempFolder root;
  EXPECT_TRUE(make_file(root / std::string(255, 'n'), ""));
  EXPECT_FALSE(make_file(root / std::string(256, 'n'), ""));
}

}  // namespace
}  // namespace entrain
