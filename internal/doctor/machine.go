package doctor

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"
)

// Machine is the hardware as the process sees it.
type Machine struct {
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
	CPU       string   `json:"cpu"`
	Cores     int      `json:"cores"`     // logical
	Threads   int      `json:"threads"`   // that Go uses: GOMAXPROCS
	Memory    int64    `json:"memory"`    // bytes, or the control group's limit; 0: not known
	Available int64    `json:"available"` // bytes
	Features  []string `json:"features"`
}

// AvailableMemory is how many bytes this process may take: what the system or the
// control group leaves it; 0 where neither says.
func AvailableMemory() int64 { return machine().Available }

func machine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: "unknown processor",
		Cores: runtime.NumCPU(), Threads: runtime.GOMAXPROCS(0), Features: features()}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := field(string(b), "model name"); name != "" {
			m.CPU = name
		}
	}
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		m.Memory, m.Available = kilobytes(string(b), "MemTotal"), kilobytes(string(b), "MemAvailable")
	}
	if limit := groupLimit(); limit > 0 && (m.Memory == 0 || limit < m.Memory) {
		m.Memory = limit
		m.Available = min(m.Available, limit)
	}
	return m
}

// field is the value after "name :" in a file of /proc.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func kilobytes(text, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(field(text, name), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// groupLimit is the memory limit of the control group, 0 if there is none.
func groupLimit() int64 {
	b, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// features lists what the kernels could use.
func features() []string {
	var out []string
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA}, {"avx512f", cpu.X86.HasAVX512F},
		{"avx512vl", cpu.X86.HasAVX512VL}, {"avx512bw", cpu.X86.HasAVX512BW}, {"avx512_bf16", cpu.X86.HasAVX512BF16},
		{"amx_tile", cpu.X86.HasAMXTile}, {"amx_bf16", cpu.X86.HasAMXBF16},
		{"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return out
}
