package wasi

// errno is a WASI error number; 0 is success.
type errno uint32

const (
	eACCES       errno = 2
	eBADF        errno = 8
	eEXIST       errno = 20
	eFAULT       errno = 21
	eINVAL       errno = 28
	eISDIR       errno = 31
	eMFILE       errno = 33
	eNAMETOOLONG errno = 37
	eNOENT       errno = 44
	eNOSPC       errno = 51
	eNOSYS       errno = 52
	eNOTDIR      errno = 54
	eNOTEMPTY    errno = 55
	eNOTSUP      errno = 58
	ePERM        errno = 63
	eROFS        errno = 69
	eSPIPE       errno = 70
)
