// SPDX-License-Identifier: GPL-2.0

//! Event queue entries: what they all have, and what each type of event says.
//!
//! Offsets in the payloads count from the event data, which is at 20h of the entry.

use super::layout::Layout;
use crate::{
    codes,
    layout, //
};

layout! {
    /// Event queue entry.
    pub struct Eqe: plain "eqe", 0x40 {
        0x00 [23:16] event_type: RO, "What happened.", names(EventType::name_of);
        0x00 [7:0] event_sub_type: RO, "What happened more exactly, by type.";
        0x20 [28 bytes] event_data: RO, "What it happened to, by type.";
        0x3c [15:8] signature: RO, "Makes the XOR of all 64 bytes FFh, where it is used.";
        0x3c [0:0] owner: RO, "Changes with each pass through the queue; 0 in the first.";
    }

    /// Commands have completed.
    pub struct CommandCompletion: plain "cmd_inter_comp_event", 0x1c {
        0x00 [31:0] command_completion_vector: RO, "Bit n: the command in entry n has completed.";
    }

    /// Firmware wants pages, or offers some back.
    pub struct PageRequest: plain "pages_req_event", 0x1c {
        0x00 [31:31] ec_function: RO, "1: the function is an embedded CPU's.",
            source("mlx5_core pagealloc.c, EC_FUNCTION_MASK");
        0x00 [30:30] release_all: RO, "1: the function is gone, all its pages are free.",
            source("mlx5_core pagealloc.c, RELEASE_ALL_PAGES_MASK");
        0x00 [15:0] function_id: RO, "Function that the pages are for.";
        0x04 [31:0] num_pages: RO, "Pages wanted; negative (two's complement): offered back.";
    }

    /// A completion, on a queue for completions.
    pub struct Completion: plain "comp_event", 0x1c {
        0x18 [23:0] cq_number: RO, "Completion queue.";
    }

    /// A completion queue has failed.
    pub struct CqError: plain "cq_error", 0x1c {
        0x00 [23:0] cqn: RO, "Completion queue.";
        0x08 [7:0] syndrome: RO, "Why it failed.", names(CqErrorSyndrome::name_of);
    }

    /// Something happened to a queue pair, or to a queue of its own.
    pub struct QpEvent: plain "qp_events", 0x1c {
        0x14 [31:24] type_: RO, "Kind of the object.", names(ObjectType::name_of);
        0x18 [23:0] qpn_rqn_sqn: RO, "Number of the object.";
    }

    /// Something happened to a DCT.
    pub struct DctEvent: plain "dct_events", 0x1c {
        0x18 [23:0] dct_number: RO, "DCT.";
    }

    /// An XRQ has failed.
    pub struct XrqError: plain "", 0x1c {
        0x14 [31:24] type_: RO, "Kind of the failure.",
            source("struct mlx5_eqe_xrq_err in device.h");
        0x14 [23:0] xrqn: RO, "XRQ.", source("struct mlx5_eqe_xrq_err in device.h");
    }

    /// A port has changed; the sub-type says how ([`PortChange`]).
    pub struct PortStateChange: plain "port_state_change_event", 0x1c {
        0x08 [31:28] port_num: RO, "Port.";
    }

    /// A module was plugged, unplugged, or has a problem.
    pub struct PortModule: plain "", 0x1c {
        0x00 [23:16] module: RO, "Module.", source("struct mlx5_eqe_port_module in device.h");
        0x00 [3:0] module_status: RO, "State of the module.", names(ModuleStatus::name_of),
            source("struct mlx5_eqe_port_module in device.h");
        0x04 [11:8] error_type: RO, "What is wrong with it.", names(ModuleError::name_of),
            source("struct mlx5_eqe_port_module in device.h");
    }

    /// Sensors are too hot.
    pub struct TemperatureWarning: plain "", 0x1c {
        0x00 [63:0] sensor_warning_msb: RO, "Bit n: sensor 64 + n.",
            source("struct mlx5_eqe_temp_warning in device.h");
        0x08 [63:0] sensor_warning_lsb: RO, "Bit n: sensor n.",
            source("struct mlx5_eqe_temp_warning in device.h");
    }

    /// The context of a NIC vport has changed.
    pub struct NicVportChange: plain "", 0x1c {
        0x00 [15:0] vport_num: RO, "Vport.", source("struct mlx5_eqe_vport_change in device.h");
    }

    /// A function has changed its state.
    pub struct VhcaStateChange: plain "", 0x1c {
        0x00 [31:16] ec_function: RO, "Not 0: the function is an embedded CPU's.",
            source("struct mlx5_eqe_vhca_state in device.h");
        0x00 [15:0] function_id: RO, "Function.",
            source("struct mlx5_eqe_vhca_state in device.h");
    }

    /// Firmware is to be updated with all drivers' help (general event, sub-type 8).
    pub struct SyncFwUpdate: plain "", 0x1c {
        0x00 [3:0] sync_rst_state: RO, "What drivers are to do.", names(SyncReset::name_of),
            source("struct mlx5_eqe_sync_fw_update in device.h");
    }

    /// A pulse on a pin of the clock.
    pub struct Pps: plain "", 0x1c {
        0x00 [7:0] pin: RO, "Pin.", source("struct mlx5_eqe_pps in device.h");
        0x08 [63:0] time_stamp: RO, "When.", source("struct mlx5_eqe_pps in device.h");
    }

    /// A general object has changed.
    pub struct ObjectChange: plain "", 0x1c {
        0x00 [15:0] obj_type: RO, "Type of the object.",
            source("struct mlx5_eqe_obj_change in device.h");
        0x04 [31:0] obj_id: RO, "Number of the object.",
            source("struct mlx5_eqe_obj_change in device.h");
    }

    /// Pins have changed.
    pub struct Gpio: plain "gpio_event", 0x1c {
        0x0c [31:0] gpio_event_hi: RO, "Bit n: pin 32 + n.";
        0x10 [31:0] gpio_event_lo: RO, "Bit n: pin n.";
    }

    /// Doorbells come faster than they can be served.
    pub struct DoorbellCongestion: plain "db_bf_congestion_event", 0x18 {
        0x00 [31:24] event_subtype: RO, "Which doorbells.";
        0x00 [15:8] congestion_level: RO, "How bad it is.";
    }

    /// A virtual lane does not move.
    pub struct Stall: plain "stall_vl_event", 0x18 {
        0x00 [7:7] port_num: RO, "Port.";
        0x00 [3:0] vl: RO, "Virtual lane.";
    }
}

codes! {
    /// Event types.
    pub struct EventType(u8) {
        COMP = 0x00 "COMP",
        PATH_MIG = 0x01 "PATH_MIG",
        COMM_EST = 0x02 "COMM_EST",
        SQ_DRAINED = 0x03 "SQ_DRAINED",
        CQ_ERROR = 0x04 "CQ_ERROR",
        WQ_CATAS_ERROR = 0x05 "WQ_CATAS_ERROR",
        PATH_MIG_FAILED = 0x07 "PATH_MIG_FAILED",
        INTERNAL_ERROR = 0x08 "INTERNAL_ERROR",
        PORT_CHANGE = 0x09 "PORT_CHANGE",
        CMD = 0x0a "CMD",
        PAGE_REQUEST = 0x0b "PAGE_REQUEST",
        PAGE_FAULT = 0x0c "PAGE_FAULT",
        NIC_VPORT_CHANGE = 0x0d "NIC_VPORT_CHANGE",
        /// The newer manual has HOST_NET_FUNCTIONS_CHANGED.
        ESW_FUNCTIONS_CHANGED = 0x0e "ESW_FUNCTIONS_CHANGED",
        VHCA_STATE_CHANGE = 0x0f "VHCA_STATE_CHANGE",
        WQ_INVAL_REQ_ERROR = 0x10 "WQ_INVAL_REQ_ERROR",
        WQ_ACCESS_ERROR = 0x11 "WQ_ACCESS_ERROR",
        SRQ_CATAS_ERROR = 0x12 "SRQ_CATAS_ERROR",
        SRQ_LAST_WQE = 0x13 "SRQ_LAST_WQE",
        SRQ_RQ_LIMIT = 0x14 "SRQ_RQ_LIMIT",
        GPIO = 0x15 "GPIO",
        PORT_MODULE = 0x16 "PORT_MODULE",
        TEMP_WARN = 0x17 "TEMP_WARN",
        XRQ_ERROR = 0x18 "XRQ_ERROR",
        REMOTE_CONFIG = 0x19 "REMOTE_CONFIG",
        DB_BF_CONGESTION = 0x1a "DB_BF_CONGESTION",
        STALL = 0x1b "STALL",
        DCT_DRAINED = 0x1c "DCT_DRAINED",
        DCT_KEY_VIOLATION = 0x1d "DCT_KEY_VIOLATION",
        FPGA_ERROR = 0x20 "FPGA_ERROR",
        FPGA_QP_ERROR = 0x21 "FPGA_QP_ERROR",
        GENERAL = 0x22 "GENERAL",
        MONITOR_COUNTER = 0x24 "MONITOR_COUNTER",
        PPS = 0x25 "PPS",
        DEVICE_TRACER = 0x26 "DEVICE_TRACER",
        OBJECT_CHANGE = 0x27 "OBJECT_CHANGE",
    }
}

codes! {
    /// Sub-types of PORT_CHANGE.
    pub struct PortChange(u8) {
        DOWN = 1 "port down",
        ACTIVE = 4 "port active",
        INITIALIZED = 5 "port initialized",
        LID = 6 "LID change",
        PKEY = 7 "P_Key change",
        GUID = 8 "GUID change",
        CLIENT_REREGISTER = 9 "client re-registration",
    }
}

codes! {
    /// Sub-types of GENERAL.
    pub struct GeneralEvent(u8) {
        DELAY_DROP_TIMEOUT = 1 "delay-drop timeout",
        PCI_POWER_CHANGE = 5 "PCI power change",
        FW_LIVE_PATCH = 7 "firmware live patch",
        PCI_SYNC_FOR_FW_UPDATE = 8 "PCI synchronization for firmware update",
    }
}

codes! {
    /// Sub-types of DEVICE_TRACER.
    pub struct TracerEvent(u8) {
        OWNERSHIP_CHANGE = 0 "ownership change",
        TRACES_AVAILABLE = 1 "traces available",
        STRINGS_DB_UPDATE = 2 "string database update",
    }
}

codes! {
    /// Why a completion queue failed.
    pub struct CqErrorSyndrome(u8) {
        OVERRUN = 1 "overrun",
        ACCESS_VIOLATION = 2 "access violation",
    }
}

codes! {
    /// Kinds of objects that a [`QpEvent`] is about.
    pub struct ObjectType(u8) {
        QP = 0 "QP",
        RQ = 1 "RQ",
        SQ = 2 "SQ",
        DCT = 6 "DCT",
    }
}

codes! {
    /// States of a module.
    pub struct ModuleStatus(u8) {
        PLUGGED = 1 "plugged",
        UNPLUGGED = 2 "unplugged",
        ERROR = 3 "error",
        DISABLED = 4 "disabled",
    }
}

codes! {
    /// What is wrong with a module.
    pub struct ModuleError(u8) {
        POWER_BUDGET = 0x0 "power budget exceeded",
        LONG_RANGE = 0x1 "long range for non MLNX cable",
        BUS_STUCK = 0x2 "bus stuck",
        NO_EEPROM = 0x3 "no EEPROM or retry timeout",
        FORCED_PART_NUMBER = 0x4 "part number list enforced",
        UNKNOWN_IDENTIFIER = 0x5 "unknown identifier",
        HIGH_TEMPERATURE = 0x6 "high temperature",
        BAD_CABLE = 0x7 "bad or shorted cable",
        PCIE_POWER_SLOT = 0xc "PCIe slot power too low",
    }
}

codes! {
    /// What drivers are to do for a synchronized firmware reset.
    pub struct SyncReset(u8) {
        REQUEST = 0 "reset request",
        NOW = 1 "reset now",
        ABORT = 2 "reset abort",
        UNLOAD = 3 "reset unload",
    }
}

impl Eqe {
    /// The payload, as the layout that belongs to the event's type.
    pub fn data<L: Layout>(&self) -> L {
        L::read_from_prefix(self.event_data()).map_or_else(|_| L::new_zeroed(), |(data, _)| data)
    }

    /// Offset of the event data in the entry.
    pub const DATA: usize = 0x20;

    /// Offset of the byte with the owner bit.
    pub const OWNER_BYTE: usize = 0x3f;

    /// The type of the event.
    pub fn kind(&self) -> EventType {
        EventType(self.event_type())
    }

    /// The event data as the layout `T`; what lies beyond them reads as zero.
    pub fn payload<T: Layout>(&self) -> T {
        let data = self.event_data();

        match T::read_from_prefix(data) {
            Ok((payload, _)) => payload,
            Err(_) => T::new_zeroed(),
        }
    }

    /// The meaning of the sub-type in words, where it is known.
    pub fn sub_type_name(&self) -> Option<&'static str> {
        let code = u64::from(self.event_sub_type());

        match self.kind() {
            EventType::PORT_CHANGE => PortChange::name_of(code),
            EventType::GENERAL => GeneralEvent::name_of(code),
            EventType::DEVICE_TRACER => TracerEvent::name_of(code),
            _ => None,
        }
    }

    /// The table of the event data, where the type has one.
    pub fn payload_table(&self) -> Option<&'static super::layout::Table> {
        Some(match self.kind() {
            EventType::COMP => Completion::TABLE,
            EventType::CMD => CommandCompletion::TABLE,
            EventType::PAGE_REQUEST => PageRequest::TABLE,
            EventType::CQ_ERROR => CqError::TABLE,
            EventType::PATH_MIG
            | EventType::COMM_EST
            | EventType::SQ_DRAINED
            | EventType::WQ_CATAS_ERROR
            | EventType::PATH_MIG_FAILED
            | EventType::WQ_INVAL_REQ_ERROR
            | EventType::WQ_ACCESS_ERROR
            | EventType::SRQ_CATAS_ERROR
            | EventType::SRQ_LAST_WQE
            | EventType::SRQ_RQ_LIMIT => QpEvent::TABLE,
            EventType::DCT_DRAINED | EventType::DCT_KEY_VIOLATION => DctEvent::TABLE,
            EventType::XRQ_ERROR => XrqError::TABLE,
            EventType::PORT_CHANGE => PortStateChange::TABLE,
            EventType::PORT_MODULE => PortModule::TABLE,
            EventType::TEMP_WARN => TemperatureWarning::TABLE,
            EventType::NIC_VPORT_CHANGE => NicVportChange::TABLE,
            EventType::VHCA_STATE_CHANGE => VhcaStateChange::TABLE,
            EventType::PPS => Pps::TABLE,
            EventType::OBJECT_CHANGE => ObjectChange::TABLE,
            EventType::GPIO => Gpio::TABLE,
            EventType::DB_BF_CONGESTION => DoorbellCongestion::TABLE,
            EventType::STALL => Stall::TABLE,
            EventType::GENERAL
                if GeneralEvent(self.event_sub_type()) == GeneralEvent::PCI_SYNC_FOR_FW_UPDATE =>
            {
                SyncFwUpdate::TABLE
            }
            _ => return None,
        })
    }
}

impl PageRequest {
    /// Pages wanted; negative: offered back.
    pub fn pages(&self) -> i32 {
        // CAST: The field is a signed number.
        self.num_pages() as i32
    }
}
