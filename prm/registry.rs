// SPDX-License-Identifier: GPL-2.0

//! All layouts of the manual that are declared here, for checks and tests.
//!
//! A test counts the declarations in the files and compares them with this list.

use super::layout::{
    Layout,
    Table, //
};
use super::{
    access_reg,
    boot,
    caps,
    eq,
    esw,
    event,
    health,
    iseg,
    pages,
    queue,
    timeout,
    uar, //
};

macro_rules! tables {
    ($($module:ident: $($name:ident)*;)*) => {
        /// The tables of all layouts.
        pub const ALL: &[&Table] = &[$($(<$module::$name as Layout>::TABLE,)*)*];
    };
}

tables! {
    access_reg: AccessRegIn AccessRegOut HostEndianness NodeDescription Mcam Pcam Qcam McamRegs
        McamRegs2 McamRegs3 McamFeatures PcamRegs PcamFeatures QcamRegs QcamFeatures;
    boot: EnableHcaIn EnableHcaOut DisableHcaIn DisableHcaOut InitHcaIn InitHcaOut TeardownHcaIn
        TeardownHcaOut QueryIssiIn QueryIssiOut SetIssiIn SetIssiOut SetDriverVersionIn
        SetDriverVersionOut QueryAdapterIn AdapterParameters QueryAdapterOut NopIn NopOut;
    caps: QueryHcaCapIn QueryHcaCapOut SetHcaCapIn SetHcaCapOut Atomic Debug Eswitch General
        General2;
    eq: Eqc CreateEqIn CreateEqOut DestroyEqIn DestroyEqOut QueryEqIn QueryEqOut GenEqeIn GenEqeOut
        Doorbell;
    esw: QueryEswFunctionsIn QueryEswFunctionsOut HostParamsContext SfEnable NetworkFunctionParams
        PciDeviceFunction;
    event: Eqe CommandCompletion PageRequest Completion CqError QpEvent DctEvent XrqError
        PortStateChange PortModule TemperatureWarning NicVportChange VhcaStateChange SyncFwUpdate
        Pps ObjectChange Gpio DoorbellCongestion Stall;
    health: Buffer FirmwareVersion;
    iseg: FirmwareRevision CommandInterface CommandQueueAddress Doorbell State NoDramNic Timeouts
        InternalTimer ClearInterrupt Health;
    pages: QueryPagesIn QueryPagesOut ManagePagesIn ManagePagesOut PageAddress;
    queue: Entry MailboxBlock;
    timeout: DefaultTimeout Dtor;
    uar: AllocUarIn AllocUarOut DeallocUarIn DeallocUarOut;
}
