// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

using ::testing::IsEmpty;
using testing::Pairs;
using testing::pairs_of;
using testing::TraceBuilder;
using K = trace::EventKind;

Pairs edges(const TraceBuilder& b) { return pairs_of(b, EdgeKind::thread); }

/// A process with two threads (0, 1) and two streams (2, 3) of one device.
TraceBuilder process() {
  TraceBuilder b(1, 4);
  for (const LocationIndex stream : {2u, 3u}) {
    b.trace().definitions.locations[stream].type = trace::LocationType::accelerator;
  }
  return b;
}

void call(TraceBuilder& b, LocationIndex l, std::uint64_t time, K kind,
          LocationIndex stream = k_none) {
  b.add(l, time, kind).peer = stream;
}

void kernel(TraceBuilder& b, LocationIndex stream, std::uint64_t begin, std::uint64_t end) {
  b.add(stream, begin, K::kernel_begin);
  b.add(stream, end, K::kernel_end);
}

TEST(Accelerators, kernels_of_a_stream_follow_their_launches_in_order) {
  TraceBuilder b = process();
  call(b, 0, 10, K::kernel_launch, 3);
  call(b, 0, 20, K::kernel_launch, 2);
  call(b, 0, 30, K::kernel_launch, 3);
  kernel(b, 2, 25, 40);
  kernel(b, 3, 15, 50);
  kernel(b, 3, 50, 60);
  EXPECT_EQ(edges(b), (Pairs{{{0, 10}, {3, 15}}, {{0, 20}, {2, 25}}, {{0, 30}, {3, 50}}}));
}

TEST(Accelerators, a_wait_ends_after_what_its_thread_launched_before) {
  TraceBuilder b = process();
  call(b, 0, 5, K::stream_wait);
  call(b, 0, 10, K::kernel_launch, 2);
  call(b, 0, 20, K::kernel_launch, 3);
  call(b, 0, 70, K::stream_wait, 3);
  call(b, 0, 80, K::stream_wait);  // waits for the device, but says nothing new of stream 3
  call(b, 0, 90, K::kernel_launch, 3);
  call(b, 1, 99, K::stream_wait);  // it is not known whether the last launch was before
  kernel(b, 2, 15, 75);
  kernel(b, 3, 25, 65);
  kernel(b, 3, 95, 97);
  EXPECT_EQ(edges(b), (Pairs{{{0, 10}, {2, 15}},
                             {{0, 20}, {3, 25}},
                             {{0, 90}, {3, 95}},
                             {{2, 75}, {0, 80}},
                             {{3, 65}, {0, 70}}}));
}

TEST(Accelerators, a_stream_without_some_record_has_no_edges) {
  TraceBuilder b = process();
  for (const std::uint64_t time : {10, 20}) call(b, 0, time, K::kernel_launch, 2);
  call(b, 0, 30, K::kernel_launch, 3);
  kernel(b, 2, 25, 40);
  kernel(b, 3, 35, 45);
  EXPECT_EQ(edges(b), (Pairs{{{0, 30}, {3, 35}}}));
}

TEST(Accelerators, a_stream_of_two_threads_has_no_edges) {
  TraceBuilder b = process();
  call(b, 0, 10, K::kernel_launch, 2);
  call(b, 1, 20, K::kernel_launch, 2);
  kernel(b, 2, 15, 25);
  kernel(b, 2, 25, 35);
  EXPECT_THAT(edges(b), IsEmpty());
}

TEST(Accelerators, without_names_launches_are_on_the_only_stream) {
  TraceBuilder b = process();
  call(b, 0, 10, K::kernel_launch);
  call(b, 0, 30, K::stream_wait);
  kernel(b, 2, 15, 25);
  EXPECT_EQ(edges(b), (Pairs{{{0, 10}, {2, 15}}, {{2, 25}, {0, 30}}}));
  call(b, 0, 40, K::kernel_launch);
  kernel(b, 3, 45, 55);
  EXPECT_THAT(edges(b), IsEmpty()) << "or on either of two";
}

TEST(Accelerators, of_two_devices_it_is_not_known_which_one_a_call_waits_for) {
  TraceBuilder b = process();
  trace::Definitions& definitions = b.trace().definitions;
  definitions.location_groups.push_back({});
  definitions.locations[3].group = 1;
  call(b, 0, 10, K::kernel_launch, 2);
  call(b, 0, 30, K::stream_wait);
  kernel(b, 2, 15, 25);
  EXPECT_EQ(edges(b), (Pairs{{{0, 10}, {2, 15}}}));
}

}  // namespace
}  // namespace entrain::match
