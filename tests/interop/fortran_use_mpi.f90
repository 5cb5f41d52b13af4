! Fortran 90 with the module mpi: views of subarrays, collective and nonblocking access, shared and
! ordered access, positions, info, sizes, error handlers.
!
!   mpiexec -n N fortran_use_mpi FOLDER
program fortran_use_mpi
  use mpi
  implicit none

  integer, parameter :: rows = 6, columns = 8
  integer :: rank, ranks, ierror
  character(len=1024) :: folder
  integer :: handler_calls = 0

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, folder)
  call check(len_trim(folder) > 0, 'no folder')
  call test_subarray()
  call test_nonblocking()
  call test_pointers()
  call test_split()
  call test_info_and_size()
  call test_errors()
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a)', 'OK'
  call MPI_Finalize(ierror)

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: ignored
    if (condition) return
    write (0, '(a,i0,a,i0,2a)') 'rank ', rank, ' of ', ranks, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine check

  function path(name)
    character(len=*), intent(in) :: name
    character(len=1100) :: path
    path = trim(folder)//'/'//name
  end function path

  subroutine open_new(name, file)
    character(len=*), intent(in) :: name
    integer, intent(out) :: file
    call MPI_File_open(MPI_COMM_WORLD, trim(path(name)), MPI_MODE_CREATE + MPI_MODE_RDWR, &
                       MPI_INFO_NULL, file, ierror)
    call check(ierror == MPI_SUCCESS, 'open '//name)
  end subroutine open_new

  subroutine check_count(status, expected, what)
    integer, intent(in) :: status(MPI_STATUS_SIZE), expected
    character(len=*), intent(in) :: what
    integer :: found
    call MPI_Get_count(status, MPI_INTEGER, found, ierror)
    call check(found == expected, what)
  end subroutine check_count

  ! Each rank owns the lower half of `columns` columns; the upper half keeps what rank 0 wrote.
  subroutine test_subarray()
    integer :: file, filetype, i, j, status(MPI_STATUS_SIZE)
    integer :: mine(rows, columns), all(rows, columns*ranks)
    integer(kind=MPI_OFFSET_KIND) :: begin
    integer :: etype, seen
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    do j = 1, columns
      do i = 1, rows
        mine(i, j) = 1000*rank + 10*j + i
      end do
    end do
    call open_new('subarray.bin', file)
    all = -5
    if (rank == 0) call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, all, size(all), MPI_INTEGER, &
                                          status, ierror)
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Type_create_subarray(2, [rows, columns*ranks], [rows/2, columns], &
                                  [rows/2, columns*rank], MPI_ORDER_FORTRAN, MPI_INTEGER, &
                                  filetype, ierror)
    call MPI_Type_commit(filetype, ierror)
    begin = 0
    call MPI_File_set_view(file, begin, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
    call MPI_File_write_all(file, mine, rows/2*columns, MPI_INTEGER, status, ierror)
    call check_count(status, rows/2*columns, 'count of write_all')
    call MPI_File_get_view(file, begin, etype, seen, datarep, ierror)
    call check(begin == 0 .and. etype == MPI_INTEGER .and. datarep == 'native', 'get_view')
    call MPI_Type_free(seen, ierror)
    call MPI_File_sync(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_File_set_view(file, begin, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    all = -1
    call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, all, size(all), MPI_INTEGER, status, ierror)
    do j = 1, columns*ranks
      do i = 1, rows/2
        call check(all(i, j) == -5, 'gap')
        call check(all(i + rows/2, j) == cell(i, j), 'cell')
      end do
    end do
    call MPI_Type_free(filetype, ierror)
    call MPI_File_close(file, ierror)
    call check(file == MPI_FILE_NULL, 'close')
  end subroutine test_subarray

  ! The value in row i of the lower half, column j: the writer's values in its own order.
  integer function cell(i, j)
    integer, intent(in) :: i, j
    integer :: place
    place = mod(j - 1, columns)*(rows/2) + i - 1
    cell = 1000*((j - 1)/columns) + 10*(place/rows + 1) + mod(place, rows) + 1
  end function cell

  subroutine test_nonblocking()
    integer :: file, i, requests(2), statuses(MPI_STATUS_SIZE, 2)
    double precision, asynchronous :: mine(50), more(50), back(100)
    integer(kind=MPI_OFFSET_KIND) :: offset
    mine = [(rank + i/100d0, i=1, 50)]
    more = mine + 0.5d0
    call open_new('nonblocking.bin', file)
    offset = 800_MPI_OFFSET_KIND*rank
    call MPI_File_iwrite_at(file, offset, mine, 50, MPI_DOUBLE_PRECISION, requests(1), ierror)
    call MPI_File_seek(file, offset + 400, MPI_SEEK_SET, ierror)
    call MPI_File_iwrite(file, more, 50, MPI_DOUBLE_PRECISION, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call MPI_Get_count(statuses(:, 2), MPI_DOUBLE_PRECISION, i, ierror)
    call check(i == 50, 'count of iwrite')
    call MPI_File_iread_at(file, offset, back, 100, MPI_DOUBLE_PRECISION, requests(1), ierror)
    call MPI_Wait(requests(1), statuses(:, 1), ierror)
    call check(maxval(abs(back - [mine, more])) <= 0d0, 'iread_at')
    call MPI_File_close(file, ierror)
  end subroutine test_nonblocking

  subroutine test_pointers()
    integer :: file, i, status(MPI_STATUS_SIZE)
    integer :: mine(10), back(10)
    integer(kind=MPI_OFFSET_KIND) :: position, bytes
    mine = [(100*rank + i, i=1, 10)]
    call open_new('pointers.bin', file)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', &
                           MPI_INFO_NULL, ierror)
    call MPI_File_write_ordered(file, mine, 10, MPI_INTEGER, status, ierror)
    call check_count(status, 10, 'count of write_ordered')
    call MPI_File_get_position_shared(file, position, ierror)
    call check(position == 10*ranks, 'shared position')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    do i = 0, ranks - 1
      if (i == rank) call MPI_File_write_shared(file, mine, 5, MPI_INTEGER, status, ierror)
      call MPI_File_sync(file, ierror)
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
    end do
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET, ierror)
    call MPI_File_read_ordered(file, back, 10, MPI_INTEGER, status, ierror)
    call check(all(back == mine), 'read_ordered')
    call MPI_File_seek(file, int(10*ranks + 5*rank, MPI_OFFSET_KIND), MPI_SEEK_SET, ierror)
    call MPI_File_read(file, back, 5, MPI_INTEGER, status, ierror)
    call check(all(back(1:5) == mine(1:5)), 'read')
    call MPI_File_get_position(file, position, ierror)
    call check(position == 10*ranks + 5*rank + 5, 'position')
    call MPI_File_get_byte_offset(file, position, bytes, ierror)
    call check(bytes == 4*(10*ranks + 5*rank + 5), 'byte offset')
    call MPI_File_close(file, ierror)
  end subroutine test_pointers

  subroutine test_split()
    integer :: file, i, status(MPI_STATUS_SIZE)
    integer, asynchronous :: mine(20), back(20)
    mine = [(1000*rank + i, i=1, 20)]
    call open_new('split.bin', file)
    call MPI_File_write_at_all_begin(file, 80_MPI_OFFSET_KIND*rank, mine, 20, MPI_INTEGER, ierror)
    call MPI_File_write_at_all_end(file, mine, status, ierror)
    call check_count(status, 20, 'count of write_at_all_end')
    call MPI_File_seek(file, 80_MPI_OFFSET_KIND*rank, MPI_SEEK_SET, ierror)
    call MPI_File_read_all_begin(file, back, 20, MPI_INTEGER, ierror)
    call MPI_File_read_all_end(file, back, status, ierror)
    call check(all(back == mine), 'read_all_end')
    call MPI_File_close(file, ierror)
  end subroutine test_split

  subroutine test_info_and_size()
    integer :: file, info, used, amode, group, members
    integer(kind=MPI_OFFSET_KIND) :: length
    logical :: atomic
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'cb_buffer_size', '65536', ierror)
    call MPI_File_open(MPI_COMM_WORLD, trim(path('size.bin')), MPI_MODE_CREATE + MPI_MODE_RDWR, &
                       info, file, ierror)
    call check(ierror == MPI_SUCCESS, 'open with info')
    call MPI_File_get_info(file, used, ierror)
    call check(ierror == MPI_SUCCESS .and. used /= MPI_INFO_NULL, 'get_info')
    call MPI_Info_free(used, ierror)
    call MPI_File_set_size(file, 5000_MPI_OFFSET_KIND, ierror)
    call MPI_File_get_size(file, length, ierror)
    call check(length == 5000, 'size')
    call MPI_File_get_amode(file, amode, ierror)
    call check(iand(amode, MPI_MODE_RDWR) /= 0, 'amode')
    call MPI_File_get_group(file, group, ierror)
    call MPI_Group_size(group, members, ierror)
    call check(members == ranks, 'group')
    call MPI_Group_free(group, ierror)
    call MPI_File_set_atomicity(file, .true., ierror)
    call MPI_File_get_atomicity(file, atomic, ierror)
    call check(atomic, 'atomicity')
    call MPI_File_close(file, ierror)
    call MPI_Info_free(info, ierror)
  end subroutine test_info_and_size

  subroutine count_call(file, code)
    integer :: file, code
    handler_calls = handler_calls + 1
    if (file == MPI_FILE_NULL .and. code == MPI_SUCCESS) handler_calls = 0
  end subroutine count_call

  subroutine test_errors()
    integer :: file, code, class, handler
    call MPI_File_open(MPI_COMM_WORLD, trim(path('missing.bin')), MPI_MODE_RDONLY, MPI_INFO_NULL, &
                       file, code)
    call MPI_Error_class(code, class, ierror)
    call check(class == MPI_ERR_NO_SUCH_FILE, 'class of a missing file')
    call open_new('errors.bin', file)
    call MPI_File_create_errhandler(count_call, handler, ierror)
    call MPI_File_set_errhandler(file, handler, ierror)
    call MPI_File_call_errhandler(file, MPI_ERR_IO, ierror)
    call check(handler_calls == 1, 'call_errhandler')
    call MPI_Errhandler_free(handler, ierror)
    call MPI_File_close(file, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) call MPI_File_delete(trim(path('errors.bin')), MPI_INFO_NULL, ierror)
    call check(ierror == MPI_SUCCESS, 'delete')
  end subroutine test_errors
end program fortran_use_mpi
