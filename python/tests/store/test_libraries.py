"""Unmodified libraries from PyPI, on `cenote://`."""

import numpy
import pytest

pytestmark = pytest.mark.usefixtures('environment')


@pytest.fixture
def url(lab):
    return f'cenote://{lab}'


def test_pandas_reads_and_writes_tables(url):
    import pandas

    table = pandas.DataFrame({'step': range(1000), 'energy': numpy.linspace(0, 1, 1000)})
    table.to_csv(f'{url}/log.csv', index=False)
    pandas.testing.assert_frame_equal(pandas.read_csv(f'{url}/log.csv'), table)
    table.to_parquet(f'{url}/log.parquet')
    read = pandas.read_parquet(f'{url}/log.parquet', columns=['energy'])
    pandas.testing.assert_frame_equal(read, table[['energy']])


def test_pyarrow_scans_datasets(url):
    import fsspec
    import pyarrow
    from pyarrow import dataset

    fs, path = fsspec.url_to_fs(url)
    table = pyarrow.table({'run': [1, 1, 2, 2], 'value': [1.0, 2.0, 3.0, 4.0]})
    scheme = dataset.partitioning(pyarrow.schema([('run', pyarrow.int64())]), flavor='hive')
    dataset.write_dataset(table, f'{path}/runs', filesystem=fs, format='parquet', partitioning=scheme)
    runs = dataset.dataset(f'{path}/runs', filesystem=fs, format='parquet', partitioning='hive')
    assert len(runs.files) == 2
    assert runs.to_table(filter=dataset.field('run') == 2)['value'].to_pylist() == [3.0, 4.0]


def test_zarr_keeps_groups_and_chunks(url):
    import zarr

    root = zarr.open_group(f'{url}/data.zarr', mode='w', zarr_format=3)
    array = root.create_array('positions', shape=(100, 100), chunks=(10, 10), dtype='f4')
    array[:] = numpy.arange(10_000, dtype='f4').reshape(100, 100)
    root.attrs['units'] = 'nm'
    again = zarr.open_group(f'{url}/data.zarr', mode='r')
    assert again.attrs['units'] == 'nm'
    assert again['positions'][55, 5:8].tolist() == [5505, 5506, 5507]
    assert sorted(again.array_keys()) == ['positions']


def test_xarray_and_dask_compute_on_a_store(url):
    import dask.array
    import xarray

    data = xarray.Dataset({'t': (('x', 'y'), numpy.arange(400.0).reshape(20, 20))}, {'x': range(20)})
    data.chunk(x=5).to_zarr(f'{url}/set.zarr', zarr_format=3, consolidated=False)
    again = xarray.open_zarr(f'{url}/set.zarr', consolidated=False)
    assert float(again.t.mean()) == 199.5
    xarray.testing.assert_equal(again.load(), data)
    array = dask.array.from_zarr(f'{url}/set.zarr', component='t')
    assert array.sum().compute() == 79_800


def test_dask_reads_many_tables(url):
    import dask.dataframe
    import fsspec

    fs, path = fsspec.url_to_fs(url)
    fs.pipe({f'{path}/part-{n}.csv': f'a,b\n{n},1\n'.encode() for n in range(5)})
    table = dask.dataframe.read_csv(f'{url}/part-*.csv')
    assert table.a.sum().compute(scheduler='threads') == 10
    table.to_parquet(f'{url}/whole')
    assert dask.dataframe.read_parquet(f'{url}/whole').b.sum().compute() == 5


def test_upath_is_a_path_in_a_store(url):
    from upath import UPath

    path = UPath(url)
    (path / 'a').mkdir()
    (path / 'a/b.txt').write_text('hello')
    assert (path / 'a/b.txt').read_text() == 'hello'
    assert [each.name for each in (path / 'a').iterdir()] == ['b.txt']
    assert [each.name for each in path.rglob('*.txt')] == ['b.txt']
    assert path.is_dir() and (path / 'a/b.txt').is_file() and not (path / 'c').exists()
    assert (path / 'a/b.txt').stat().st_size == 5
    (path / 'a/b.txt').rename(path / 'c.txt')
    (path / 'c.txt').unlink()
    assert list(path.glob('*.txt')) == []


def test_tqdm_shows_progress(store, lab, tmp_path):
    import io

    import tqdm

    (tmp_path / 'a').write_bytes(bytes(3 << 20))
    with tqdm.tqdm(total=3 << 20, file=io.StringIO()) as bar:
        store.put(tmp_path / 'a', f'{lab}/a', progress=bar.update)
        assert bar.n == 3 << 20
