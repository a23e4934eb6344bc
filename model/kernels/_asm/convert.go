package main

// convertFile writes the conversions of left operands for the TDPBF16PS kinds.
func convertFile(f *file) {
	f.p("%s\n#include \"textflag.h\"\n", header)
	f.p("// Word order of packBlocks: dword d has k = 4d (high) and 4d+2, dword 8+d 4d+1 and 4d+3.")
	for d := range 16 {
		low, high := 4*d+2, 4*d
		if d >= 8 {
			low, high = 4*(d-8)+3, 4*(d-8)+1
		}
		f.p("DATA pairWords<>+%d(SB)/4, $%#x", 4*d, high<<16|low)
	}
	f.p("GLOBL pairWords<>(SB), RODATA|NOPTR, $64\n\n// Even, then odd elements of two vectors.")
	for i := range 32 {
		f.p("DATA evenOdd<>+%d(SB)/4, $%d", 4*i, i%16*2+i/16)
	}
	f.p("GLOBL evenOdd<>(SB), RODATA|NOPTR, $128\n")
	pairConversion(f)
	chainConversion(f)
	chainConversionAVX2(f)
}

func pairConversion(f *file) {
	f.p("// func pairBlocksAVX512(dst, x unsafe.Pointer, blocks, parts int)")
	f.p("// Converts blocks of 32 floats to one or three vectors of pairs, the smallest part first.")
	f.p("TEXT ·pairBlocksAVX512(SB), NOSPLIT, $0-32")
	f.p("\tMOVQ dst+0(FP), DI\n\tMOVQ x+8(FP), SI\n\tMOVQ blocks+16(FP), CX\n\tMOVQ parts+24(FP), AX")
	f.p("\tVMOVDQU32 pairWords<>(SB), Z31\n\tCMPQ AX, $3\n\tJEQ three\none: // a block, one part")
	f.p("\tVMOVUPS (SI), Z0\n\tVMOVUPS 64(SI), Z1")
	part := func(off int) {
		f.e(vcvtneps2bf16(0, 2))
		f.e(vcvtneps2bf16(1, 3))
		f.p("\tVINSERTI64X4 $1, Y3, Z2, Z4\n\tVPERMW Z4, Z31, Z4\n\tVMOVDQU32 Z4, %d(DI)", off)
	}
	part(0)
	f.p("\tADDQ $128, SI\n\tADDQ $64, DI\n\tDECQ CX\n\tJNZ one\n\tVZEROUPPER\n\tRET\nthree: // a block, three parts")
	f.p("\tVMOVUPS (SI), Z0\n\tVMOVUPS 64(SI), Z1")
	for q := 2; q >= 0; q-- {
		part(64 * q)
		if q > 0 {
			for i := range 2 {
				f.p("\tVPMOVZXWD Y%d, Z%[1]d\n\tVPSLLD $16, Z%[1]d, Z%[1]d\n\tVSUBPS Z%[1]d, Z%[2]d, Z%[2]d // what is left", 2+i, i)
			}
		}
	}
	f.p("\tADDQ $128, SI\n\tADDQ $192, DI\n\tDECQ CX\n\tJNZ three\n\tVZEROUPPER\n\tRET\n")
}

func chainConversion(f *file) {
	f.p("// func splitBlocksAVX512(dst, x unsafe.Pointer, blocks, parts int)")
	f.p("// Converts blocks of 32 floats to one or three blocks of bfloat16 values as floats.")
	f.p("TEXT ·splitBlocksAVX512(SB), NOSPLIT, $0-32")
	f.p("\tMOVQ dst+0(FP), DI\n\tMOVQ x+8(FP), SI\n\tMOVQ blocks+16(FP), CX\n\tMOVQ parts+24(FP), AX")
	f.p("\tVMOVDQU32 evenOdd<>(SB), Z31\n\tVMOVDQU32 evenOdd<>+64(SB), Z30")
	for i, v := range []string{"0x7f800000", "0x80000000", "0x7fff", "1", "0xffff0000", "0x400000"} {
		f.p("\tMOVL $%s, R8\n\tVPBROADCASTD R8, Z%d", v, 29-i)
	}
	f.p("block: // 32 floats\n\tVMOVUPS (SI), Z0\n\tVMOVUPS 64(SI), Z2\n\tVMOVUPS Z0, Z1")
	f.p("\tVPERMT2PS Z2, Z31, Z0\n\tVPERMT2PS Z2, Z30, Z1")
	f.p("\tLEAQ -1(AX), R9\n\tSHLQ $7, R9\n\tADDQ DI, R9 // the largest part is the last")
	f.p("\tMOVQ AX, R10\npart:")
	for i := range 2 {
		x, t := i, 4+i
		f.p("\tVPTESTNMD Z29, Z%d, K1 // denormals\n\tVMOVAPS Z%[1]d, Z%d\n\tVPANDD Z28, Z%[1]d, K1, Z%[2]d", x, t)
		f.p("\tVCMPPS $3, Z%d, Z%[1]d, K2 // NaN\n\tVPORD Z24, Z%[1]d, Z6", t)
		f.p("\tVPSRLD $16, Z%d, Z7\n\tVPANDD Z26, Z7, Z7\n\tVPADDD Z27, Z7, Z7\n\tVPADDD Z7, Z%[1]d, Z%[1]d", t)
		f.p("\tVMOVAPS Z6, K2, Z%d\n\tVPANDD Z25, Z%[1]d, Z%[1]d\n\tVMOVUPS Z%[1]d, %d(R9)\n\tVSUBPS Z%[1]d, Z%[3]d, Z%[3]d", t, 64*i, x)
	}
	f.p("\tSUBQ $128, R9\n\tDECQ R10\n\tJNZ part")
	f.p("\tADDQ $128, SI\n\tMOVQ AX, R10\n\tSHLQ $7, R10\n\tADDQ R10, DI\n\tDECQ CX\n\tJNZ block\n\tVZEROUPPER\n\tRET\n")
}

// chainConversionAVX2 has no masks: results are blended.
func chainConversionAVX2(f *file) {
	f.p("// func splitBlocksAVX2(dst, x unsafe.Pointer, blocks, parts int)")
	f.p("// Converts blocks of 32 floats to one or three blocks of bfloat16 values as floats.")
	f.p("TEXT ·splitBlocksAVX2(SB), NOSPLIT, $0-32")
	f.p("\tMOVQ dst+0(FP), DI\n\tMOVQ x+8(FP), SI\n\tMOVQ blocks+16(FP), CX\n\tMOVQ parts+24(FP), AX")
	for i, v := range []string{"0x7f800000", "0x80000000", "0x7fff", "1", "0xffff0000", "0x400000"} {
		f.p("\tMOVL $%s, R8\n\tVMOVD R8, X%d\n\tVPBROADCASTD X%[2]d, Y%[2]d", v, 15-i)
	}
	f.p("\tVPXOR Y9, Y9, Y9\nblock: // 32 floats: the even ones to Y0 and Y1, the odd ones to Y2 and Y3")
	for i := range 2 {
		f.p("\tVMOVUPS %d(SI), Y4\n\tVMOVUPS %d(SI), Y5", 64*i, 64*i+32)
		for odd, imm := range []string{"0x88", "0xdd"} {
			f.p("\tVSHUFPS $%s, Y5, Y4, Y%d\n\tVPERMPD $0xd8, Y%[2]d, Y%[2]d", imm, 2*odd+i)
		}
	}
	f.p("\tLEAQ -1(AX), R9\n\tSHLQ $7, R9\n\tADDQ DI, R9 // the largest part is the last")
	f.p("\tMOVQ AX, R10\npart:")
	for x := range 4 {
		f.p("\tVPAND Y%d, Y15, Y4\n\tVPCMPEQD Y9, Y4, Y4 // denormals\n\tVPAND Y%[1]d, Y14, Y5\n\tVBLENDVPS Y4, Y5, Y%[1]d, Y4", x)
		f.p("\tVCMPPS $3, Y4, Y4, Y5 // NaN\n\tVPOR Y10, Y4, Y6")
		f.p("\tVPSRLD $16, Y4, Y7\n\tVPAND Y12, Y7, Y7\n\tVPADDD Y13, Y7, Y7\n\tVPADDD Y7, Y4, Y4")
		f.p("\tVBLENDVPS Y5, Y6, Y4, Y4\n\tVPAND Y11, Y4, Y4\n\tVMOVUPS Y4, %d(R9)\n\tVSUBPS Y4, Y%d, Y%[2]d", 32*x, x)
	}
	f.p("\tSUBQ $128, R9\n\tDECQ R10\n\tJNZ part")
	f.p("\tADDQ $128, SI\n\tMOVQ AX, R10\n\tSHLQ $7, R10\n\tADDQ R10, DI\n\tDECQ CX\n\tJNZ block\n\tVZEROUPPER\n\tRET")
}
