// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/mailbox.hpp"

namespace entrain::record {

namespace {

constexpr int k_tag_word = 4;  // behind those of ClockTree

}  // namespace

void Mailbox::send(int peer, const Meetings::Message& message) {
  int gone = 1;
  while (!sent_.empty()) {
    real.MPI_Test(&sent_.front().request, &gone, MPI_STATUS_IGNORE);
    if (gone == 0) break;
    sent_.pop_front();
  }
  Letter& letter = sent_.emplace_back();
  letter.numbers[0] = static_cast<std::uint64_t>(message.kind);
  letter.numbers[1] = message.attempt;
  letter.numbers[2] = message.value;
  real.MPI_Isend(letter.numbers, k_numbers, MPI_UINT64_T, peer, k_tag_word, comm_, &letter.request);
}

bool Mailbox::receive(int peer, Meetings::Message& message) {
  int there = 0;
  real.MPI_Iprobe(peer, k_tag_word, comm_, &there, MPI_STATUS_IGNORE);
  if (there == 0) return false;
  std::uint64_t numbers[k_numbers] = {};
  real.MPI_Recv(numbers, k_numbers, MPI_UINT64_T, peer, k_tag_word, comm_, MPI_STATUS_IGNORE);
  message = {static_cast<Meetings::Kind>(numbers[0]), numbers[1], numbers[2]};
  return true;
}

void Mailbox::close() {
  for (Letter& letter : sent_) real.MPI_Wait(&letter.request, MPI_STATUS_IGNORE);
  sent_.clear();
}

}  // namespace entrain::record
