! SPDX-License-Identifier: BSD-3-Clause
! The same calls as bindings_c.c, by way of mpif.h.
program bindings
  implicit none
  include 'mpif.h'
  integer :: ierr, rank, size, left, right, in, total
  integer :: requests(2), status(MPI_STATUS_SIZE), every_other
  integer :: from(4), to(4)
  from = [1, 2, 3, 4]
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  call entrain_region_begin('solve')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, right, 5, in, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, &
                    status, ierr)
  call MPI_Irecv(in, 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(rank, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call entrain_region_end()
  call entrain_timesync(ierr)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, every_other, ierr)
  call MPI_Type_commit(every_other, ierr)
  call MPI_Send(from, 1, every_other, MPI_PROC_NULL, 7, MPI_COMM_WORLD, ierr)
  call MPI_Recv(to, 1, every_other, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Type_free(every_other, ierr)
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0)', 'sum ', total
  call MPI_Finalize(ierr)
end program
