C Fortran 77 with mpif.h: a cyclic view, collective and independent access, shared pointers.
C
C   mpiexec -n N fortran_mpif FOLDER
      program fortran_mpif
      implicit none
      include 'mpif.h'
      integer blocks, width
      parameter (blocks = 12, width = 5)
      integer rank, ranks, ierror, file, vector, cyclic, i, request
      integer status(MPI_STATUS_SIZE)
      integer mine(blocks*width), back(blocks*width), count
      integer (kind=MPI_ADDRESS_KIND) extent
      integer (kind=MPI_OFFSET_KIND) offset, length
      character*1024 folder

      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
      call getarg(1, folder)
      do i = 1, blocks*width
        mine(i) = 1000*rank + i
        back(i) = -1
      end do

C     Blocks of `width` integers dealt out in turn, written collectively.
      call MPI_FILE_OPEN(MPI_COMM_WORLD, trim(folder)//'/cyclic.bin',
     &     MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
      call check(ierror .eq. MPI_SUCCESS, 'open')
      call MPI_TYPE_CONTIGUOUS(width, MPI_INTEGER, vector, ierror)
      extent = 4*width*ranks
      call MPI_TYPE_CREATE_RESIZED(vector, 0_MPI_ADDRESS_KIND, extent,
     &     cyclic, ierror)
      call MPI_TYPE_COMMIT(cyclic, ierror)
      offset = 4*width*rank
      call MPI_FILE_SET_VIEW(file, offset, MPI_INTEGER, cyclic,
     &     'native', MPI_INFO_NULL, ierror)
      call MPI_FILE_WRITE_ALL(file, mine, blocks*width, MPI_INTEGER,
     &     status, ierror)
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierror)
      call check(count .eq. blocks*width, 'count of write_all')
      offset = 0
      call MPI_FILE_IREAD_AT(file, offset, back, blocks*width,
     &     MPI_INTEGER, request, ierror)
      call MPI_WAIT(request, status, ierror)
      do i = 1, blocks*width
        call check(back(i) .eq. mine(i), 'iread_at')
      end do
      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      call MPI_FILE_GET_SIZE(file, length, ierror)
      call check(length .eq. 4*blocks*width*ranks, 'size')
      call MPI_FILE_CLOSE(file, ierror)
      call MPI_TYPE_FREE(cyclic, ierror)
      call MPI_TYPE_FREE(vector, ierror)

C     Ordered writes; then every rank reads all of them at once.
      call MPI_FILE_OPEN(MPI_COMM_WORLD, trim(folder)//'/ordered.bin',
     &     MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
      call MPI_FILE_WRITE_ORDERED(file, mine, width, MPI_INTEGER,
     &     status, ierror)
      call MPI_FILE_SYNC(file, ierror)
      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      do i = 0, ranks - 1
        offset = 4*width*i
        call MPI_FILE_READ_AT(file, offset, back, width, MPI_INTEGER,
     &       status, ierror)
        call check(back(width) .eq. 1000*i + width, 'read_at')
      end do
      call MPI_FILE_CLOSE(file, ierror)

      call MPI_BARRIER(MPI_COMM_WORLD, ierror)
      if (rank .eq. 0) print '(a)', 'OK'
      call MPI_FINALIZE(ierror)

      contains

      subroutine check(condition, what)
      logical condition
      character*(*) what
      integer ignored
      if (condition) return
      write (0, *) 'rank ', rank, ' of ', ranks, ': ', what
      call MPI_ABORT(MPI_COMM_WORLD, 1, ignored)
      end subroutine check
      end program fortran_mpif
