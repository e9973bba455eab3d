! SPDX-License-Identifier: BSD-3-Clause
! A pipeline: every process works on a block and sends it to the next process. The clocks are
! measured in the middle. Prints the number of messages and of collective calls.
!
!   mpifort -O2 pipeline.f90 -o pipeline -lentrain-hooks
!   entrain record -o trace -- mpirun -n 4 ./pipeline
program pipeline
  use mpi_f08
  implicit none
  integer, parameter :: blocks = 50, length = 1000
  integer :: rank, size, ierr, i
  integer :: counts(3), sums(3)
  real(8) :: block(length)
  type(MPI_Status) :: status

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  counts = 0
  do i = 1, blocks
    if (rank == 0) then
      block = i
    else
      call MPI_Recv(block, length, MPI_REAL8, rank - 1, i, MPI_COMM_WORLD, status, ierr)
      counts(2) = counts(2) + 1
    end if
    call entrain_region_begin('work')
    block = sqrt(block) + rank
    call entrain_region_end()
    if (rank < size - 1) then
      call MPI_Send(block, length, MPI_REAL8, rank + 1, i, MPI_COMM_WORLD, ierr)
      counts(1) = counts(1) + 1
    end if
    if (i == blocks / 2) call entrain_timesync(ierr)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  counts(3) = 2
  call MPI_Reduce(counts, sums, 3, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    print '(a, i0)', 'sent ', sums(1)
    print '(a, i0)', 'received ', sums(2)
    print '(a, i0)', 'collectives ', sums(3)
  end if
  call MPI_Finalize(ierr)
end program
