! SPDX-License-Identifier: BSD-3-Clause
! A program for Intel Trace Collector: it knows nothing of the recorder.
program vt_timesync_f
  use mpi
  implicit none
  integer :: ierr, step, failed
  failed = 0
  call MPI_Init(ierr)
  do step = 1, 5
    ierr = -1
    call VTTIMESYNC(ierr)
    if (ierr /= 0) failed = 1
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
  if (failed /= 0) stop 1
end program
