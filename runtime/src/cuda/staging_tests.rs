//! Lanes over memory of the host, whose transfers happen as late as they may.

use super::*;
use std::sync::Arc;

/// The device's memory, its transfers so far, and the one that fails.
struct Device {
    memory: Mutex<Vec<u8>>,
    transfers: AtomicUsize,
    fails_at: usize,
}

enum Transfer {
    In(u64, usize),
    Out(u64, usize),
}

struct Late {
    bytes: Vec<u8>,
    device: Arc<Device>,
    under_way: Option<Transfer>,
}

impl Late {
    fn begin(&mut self, transfer: Transfer) -> Result<(), CudaError> {
        assert!(self.under_way.is_none(), "the buffer is still in use");
        if self.device.transfers.fetch_add(1, Ordering::Relaxed) + 1 == self.device.fails_at {
            return Err(CudaError::OutsideBuffer { offset: 0, length: 0, bytes: 0 });
        }
        self.under_way = Some(transfer);
        Ok(())
    }
}

impl Pinned for Late {
    fn bytes(&mut self) -> &mut [u8] {
        assert!(self.under_way.is_none(), "the buffer is still in use");
        &mut self.bytes
    }

    fn begin_in(&mut self, to: u64, bytes: usize) -> Result<(), CudaError> {
        self.begin(Transfer::In(to, bytes))
    }

    fn begin_out(&mut self, from: u64, bytes: usize) -> Result<(), CudaError> {
        self.begin(Transfer::Out(from, bytes))
    }

    fn wait(&mut self) -> Result<(), CudaError> {
        let mut memory = locked(&self.device.memory);
        match self.under_way.take() {
            Some(Transfer::In(to, bytes)) => memory[to as usize..][..bytes].copy_from_slice(&self.bytes[..bytes]),
            Some(Transfer::Out(from, bytes)) => self.bytes[..bytes].copy_from_slice(&memory[from as usize..][..bytes]),
            None => {}
        }
        Ok(())
    }
}

fn device(memory: Vec<u8>, fails_at: usize) -> Arc<Device> {
    Arc::new(Device { memory: Mutex::new(memory), transfers: AtomicUsize::new(0), fails_at })
}

fn lanes_of(device: &Arc<Device>, count: usize) -> Vec<Lane<Late>> {
    let buffer = || Late { bytes: vec![0xee; CHUNK], device: device.clone(), under_way: None };
    (0..count).map(|_| [buffer(), buffer()]).collect()
}

fn values(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 251) as u8).collect()
}

const SIZES: [usize; 6] = [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK - 5, 7 * CHUNK];

#[test]
fn all_bytes_reach_the_device_and_nothing_else() {
    for (bytes, count) in SIZES.into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 2), (bytes, 3)]) {
        let device = device(vec![0x55; bytes + 32], 0);
        copy_in(&mut lanes_of(&device, count), 16, &values(bytes)).unwrap();
        let memory = locked(&device.memory);
        assert!(memory[16..bytes + 16] == values(bytes), "{bytes} bytes, {count} lanes");
        assert!(memory[..16].iter().chain(&memory[bytes + 16..]).all(|&byte| byte == 0x55));
    }
}

#[test]
fn all_bytes_come_back() {
    for (bytes, count) in SIZES.into_iter().flat_map(|bytes| [(bytes, 1), (bytes, 2), (bytes, 3)]) {
        let device = device([vec![0x55; 16], values(bytes)].concat(), 0);
        let mut to = vec![0; bytes];
        copy_out(&mut lanes_of(&device, count), &mut to, 16).unwrap();
        assert!(to == values(bytes), "{bytes} bytes, {count} lanes");
    }
}

#[test]
fn rows_come_back_and_nothing_between_them() {
    let shapes = [
        ([3, 4, 2], Apart { row: 5, plane: 6 }),
        ([CHUNK - 7, 3, 2], Apart { row: CHUNK + 3, plane: 4 }),
        ([2 * CHUNK + 1, 2, 1], Apart { row: 3 * CHUNK, plane: 2 }),
        ([1000, 5000, 1], Apart { row: 1003, plane: 5000 }),
    ];
    for (size, apart) in shapes {
        let rows = Rows { size, apart };
        let span = rows.span();
        assert!(rows.are_dense());
        let all = values(span);
        let device = device([vec![0x55; 16], all.clone()].concat(), 0);
        let mut to = vec![0; span + 9];
        copy_rows_out(&mut lanes_of(&device, 2), &mut to, 16, &rows).unwrap();
        let mut expected = vec![0; span + 9];
        for (plane, row) in (0..size[2]).flat_map(|plane| (0..size[1]).map(move |row| (plane, row))) {
            let start = (plane * apart.plane + row) * apart.row;
            expected[start..start + size[0]].copy_from_slice(&all[start..start + size[0]]);
        }
        assert!(to == expected, "{size:?}");
    }
    assert!(!Rows { size: [8, 100, 1], apart: Apart { row: 80, plane: 100 } }.are_dense());
}

#[test]
fn a_failure_leaves_nothing_on_its_way() {
    for fails_at in 1..=7 {
        let device = device(values(7 * CHUNK), fails_at);
        let mut lanes = lanes_of(&device, 2);
        assert!(copy_in(&mut lanes, 0, &values(7 * CHUNK)).is_err());
        assert!(lanes.iter().flatten().all(|buffer| buffer.under_way.is_none()));
        device.transfers.store(0, Ordering::Relaxed);
        assert!(copy_out(&mut lanes, &mut vec![0; 7 * CHUNK], 0).is_err());
        assert!(lanes.iter().flatten().all(|buffer| buffer.under_way.is_none()));
    }
}

#[test]
fn a_machine_with_few_cores_has_no_lanes() {
    assert_eq!([1, 2, 3, 4, 16, 128].map(lanes), [0, 0, 0, 2, 8, 8]);
}
