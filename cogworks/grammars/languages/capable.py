"""By which modules and calls code of each language reaches beyond itself, as data; `grammars/capabilities` reads it.

A module counts where it is imported, with everything below it. A call is `name` where nothing stands before it, `owner.name`, or
`*.name` whatever stands before it; owners are the last word of a path, and in Python and scripts also the module behind an alias.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Capability = Literal["network", "processes", "evaluation", "deserialisation", "files"]

_PARTS = re.compile(r"::|[./\\]")


@dataclass(frozen=True)
class Ways:
    """How code of one language comes to one capability."""

    modules: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    """Modules below those that reach nothing."""

    def imported(self, name: Sequence[str]) -> bool:
        """Whether who imports a module, given by its parts, has the capability."""
        return _starts(name, self.modules)

    def harmless(self, name: Sequence[str]) -> bool:
        """Whether it is one of those that reach nothing."""
        return _starts(name, self.but)


@dataclass(frozen=True)
class Reach:
    """What is known of one language."""

    ways: Mapping[Capability, Ways]
    forms: Mapping[str, Capability] = field(default_factory=dict)
    """A pattern of tree-sitter for what is no call -> what it can do."""


def parts_of(module: str) -> tuple[str, ...]:
    """The parts of a name as any language writes it."""
    return tuple(_PARTS.split(module))


def _starts(name: Sequence[str], modules: tuple[str, ...]) -> bool:
    return any(tuple(name[: len(parts)]) == parts for parts in map(parts_of, modules))


def _ways(modules: str = "", calls: str = "", but: str = "") -> Ways:
    return Ways(tuple(modules.split()), tuple(calls.split()), tuple(but.split()))


_PYTHON = Reach(
    {
        "network": _ways(
            "socket socketserver ssl http.client http.server urllib.request urllib2 httplib ftplib smtplib poplib imaplib nntplib telnetlib "
            "xmlrpc requests httpx aiohttp urllib3 websockets websocket paramiko pycurl httplib2 boto3 botocore grpc zmq dns asyncssh "
            "http3 treq tornado.httpclient",
            "asyncio.open_connection asyncio.start_server *.create_connection *.create_datagram_endpoint",
            "requests.exceptions requests.structures urllib3.exceptions httpx.exceptions",
        ),
        "processes": _ways(
            "subprocess pexpect plumbum",
            "os.system os.popen os.fork os.forkpty os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe "
            "os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp "
            "os.startfile pty.spawn asyncio.create_subprocess_exec asyncio.create_subprocess_shell *.subprocess_exec *.subprocess_shell",
        ),
        "evaluation": _ways(
            "codeop runpy ctypes cffi",
            "eval exec __import__ builtins.eval builtins.exec importlib.import_module importlib.machinery.SourceFileLoader "
            "importlib.util.spec_from_file_location importlib.util.module_from_spec *.run_path types.FunctionType types.CodeType",
        ),
        "deserialisation": _ways(
            "pickle cPickle _pickle dill cloudpickle shelve marshal jsonpickle joblib",
            "yaml.load yaml.load_all yaml.full_load yaml.unsafe_load yaml.unsafe_load_all yaml.UnsafeLoader torch.load "
            "pandas.read_pickle pd.read_pickle numpy.load np.load",
        ),
        "files": _ways(
            "",
            "os.remove os.unlink os.rmdir os.removedirs os.rename os.renames os.replace os.chmod os.chown os.symlink os.link os.truncate "
            "shutil.rmtree shutil.move shutil.copy shutil.copy2 shutil.copyfile shutil.copytree *.write_text *.write_bytes *.unlink "
            "*.rmdir *.symlink_to *.hardlink_to",
        ),
    }
)
_SCRIPTS = Reach(
    {
        "network": _ways(
            "net node:net http node:http https node:https http2 node:http2 dgram node:dgram tls node:tls dns node:dns axios node-fetch "
            "cross-fetch undici got ws socket.io socket.io-client request superagent ky nodemailer ssh2 needle",
            "fetch window.fetch globalThis.fetch self.fetch XMLHttpRequest WebSocket EventSource *.sendBeacon *.importScripts Deno.connect "
            "Deno.listen Bun.serve Bun.connect",
        ),
        "processes": _ways(
            "child_process node:child_process cluster node:cluster worker_threads node:worker_threads execa cross-spawn shelljs zx",
            "Deno.Command Deno.run Bun.spawn Bun.spawnSync process.kill process.binding process.dlopen",
        ),
        "evaluation": _ways(
            "vm node:vm vm2 isolated-vm module node:module inspector node:inspector",
            "eval Function window.eval globalThis.eval *.runInNewContext *.runInThisContext",
        ),
        "deserialisation": _ways("node-serialize serialize-to-js funcster cryo v8 node:v8", "v8.deserialize"),
        "files": _ways(
            "",
            "*.unlink *.unlinkSync *.rmSync *.rmdir *.rmdirSync *.writeFile *.writeFileSync *.appendFile *.appendFileSync *.createWriteStream "
            "*.rename *.renameSync *.chmod *.chmodSync *.symlink *.symlinkSync *.copyFile *.copyFileSync Deno.remove Deno.writeFile "
            "Deno.writeTextFile",
        ),
    }
)
_GO = Reach(
    {
        "network": _ways(
            "net golang.org/x/net google.golang.org/grpc github.com/gorilla/websocket",
            "",
            "net/url net/netip net/mail net/textproto net/http/httptest golang.org/x/net/html golang.org/x/net/idna",
        ),
        "processes": _ways("os/exec", "os.StartProcess syscall.Exec syscall.ForkExec unix.Exec"),
        "evaluation": _ways(
            "plugin github.com/traefik/yaegi github.com/dop251/goja github.com/robertkrimen/otto"
        ),
        "deserialisation": _ways("encoding/gob"),
        "files": _ways(
            "",
            "os.Remove os.RemoveAll os.Rename os.WriteFile os.Create os.OpenFile os.Chmod os.Chown os.Symlink os.Link os.Truncate "
            "ioutil.WriteFile",
        ),
    }
)
_RUST = Reach(
    {
        "network": _ways(
            "std::net std::os::unix::net tokio::net async_std::net reqwest hyper ureq curl isahc tungstenite tonic",
            "TcpStream.connect TcpListener.bind UdpSocket.bind UnixStream.connect reqwest.get",
            "std::net::IpAddr std::net::Ipv4Addr std::net::Ipv6Addr std::net::SocketAddr std::net::AddrParseError",
        ),
        "processes": _ways("std::process::Command tokio::process async_process duct", "Command.new"),
        "evaluation": _ways("libloading dlopen rhai mlua rlua", "Library.new"),
        "deserialisation": _ways("serde_pickle"),
        "files": _ways(
            "",
            "fs.remove_file fs.remove_dir fs.remove_dir_all fs.rename fs.write fs.set_permissions fs.copy File.create",
        ),
    }
)
_JAVA = Reach(
    {
        "network": _ways(
            "java.net javax.net java.nio.channels.SocketChannel java.nio.channels.ServerSocketChannel okhttp3 org.apache.http retrofit2 "
            "java.rmi javax.naming javax.mail jakarta.mail io.netty.channel",
            "*.openConnection *.openStream",
            "java.net.URI java.net.URL java.net.URLEncoder java.net.URLDecoder java.net.URISyntaxException java.net.MalformedURLException "
            "java.net.InetAddress java.net.UnknownHostException",
        ),
        "processes": _ways("org.apache.commons.exec", "ProcessBuilder Runtime.getRuntime"),
        "evaluation": _ways(
            "javax.script javax.tools groovy.lang org.mozilla.javascript",
            "Class.forName *.defineClass URLClassLoader System.loadLibrary System.load",
        ),
        "deserialisation": _ways(
            "java.io.ObjectInputStream java.beans.XMLDecoder com.thoughtworks.xstream", "*.readObject"
        ),
        "files": _ways(
            "java.io.FileOutputStream java.io.FileWriter",
            "Files.delete Files.deleteIfExists Files.write Files.writeString Files.move Files.copy FileOutputStream FileWriter",
        ),
    }
)
_C = Reach(
    {
        "network": _ways(
            "sys/socket.h netinet arpa/inet.h netdb.h curl winsock2.h winsock.h openssl/ssl.h",
            "socket getaddrinfo gethostbyname curl_easy_init WSAStartup",
        ),
        "processes": _ways(
            "spawn.h",
            "system popen _popen fork vfork execl execle execlp execv execve execvp execvpe posix_spawn posix_spawnp CreateProcess "
            "CreateProcessA CreateProcessW ShellExecute ShellExecuteA ShellExecuteW WinExec",
        ),
        "evaluation": _ways("dlfcn.h", "dlopen LoadLibrary LoadLibraryA LoadLibraryW"),
        "files": _ways(
            "",
            "unlink rmdir rename chmod chown symlink truncate ftruncate fs.remove fs.remove_all filesystem.remove_all",
        ),
    }
)
_C_SHARP = Reach(
    {
        "network": _ways(
            "System.Net RestSharp Grpc",
            "HttpClient WebClient TcpClient UdpClient Socket TcpListener HttpListener",
            "System.Net.Mime System.Net.HttpStatusCode",
        ),
        "processes": _ways("", "Process.Start ProcessStartInfo"),
        "evaluation": _ways(
            "System.Reflection.Emit Microsoft.CodeAnalysis.CSharp.Scripting System.CodeDom.Compiler",
            "Assembly.Load Assembly.LoadFrom Assembly.LoadFile CSharpScript.EvaluateAsync CSharpScript.RunAsync",
        ),
        "deserialisation": _ways(
            "System.Runtime.Serialization.Formatters.Binary",
            "BinaryFormatter NetDataContractSerializer SoapFormatter LosFormatter ObjectStateFormatter JavaScriptSerializer",
        ),
        "files": _ways(
            "",
            "File.Delete File.WriteAllText File.WriteAllBytes File.WriteAllLines File.Move File.Copy File.Create Directory.Delete Directory.Move",
        ),
    }
)
_RUBY = Reach(
    {
        "network": _ways(
            "socket net open-uri openssl resolv faraday httparty rest-client excon typhoeus httpx webrick drb",
            "HTTP.get HTTP.post HTTP.start HTTP.new TCPSocket.new TCPSocket.open TCPServer.new UDPSocket.new URI.open",
        ),
        "processes": _ways(
            "open3 pty shell",
            "system exec spawn fork Kernel.system Kernel.exec Kernel.spawn Process.spawn Process.fork IO.popen Open3.popen3 Open3.capture2 "
            "Open3.capture2e Open3.capture3 PTY.spawn",
        ),
        "evaluation": _ways(
            "fiddle ripper", "eval Kernel.eval binding.eval RubyVM.new InstructionSequence.compile"
        ),
        "deserialisation": _ways(
            "",
            "Marshal.load Marshal.restore YAML.load YAML.unsafe_load YAML.load_file Psych.load Psych.unsafe_load Oj.load",
        ),
        "files": _ways(
            "fileutils",
            "File.delete File.unlink File.write File.rename File.chmod File.symlink IO.write Dir.rmdir Dir.delete FileUtils.rm FileUtils.rm_r "
            "FileUtils.rm_rf FileUtils.mv FileUtils.cp FileUtils.cp_r",
        ),
    },
    {"(subshell) @form": "processes"},
)
_PHP = Reach(
    {
        "network": _ways(
            "GuzzleHttp Symfony\\Component\\HttpClient Symfony\\Contracts\\HttpClient",
            "curl_init curl_exec curl_multi_exec fsockopen pfsockopen stream_socket_client stream_socket_server socket_create socket_connect "
            "mail ftp_connect SoapClient",
            "GuzzleHttp\\Psr7",
        ),
        "processes": _ways(
            "Symfony\\Component\\Process", "exec shell_exec system passthru popen proc_open pcntl_exec pcntl_fork"
        ),
        "evaluation": _ways("", "eval create_function"),
        "deserialisation": _ways("", "unserialize igbinary_unserialize yaml_parse"),
        "files": _ways("", "unlink rmdir rename file_put_contents chmod chown symlink copy move_uploaded_file"),
    },
    {"(shell_command_expression) @form": "processes"},
)  # fmt: skip
REACHES: Mapping[str, Reach] = MappingProxyType(
    {
        "Python": _PYTHON,
        **dict.fromkeys(("JavaScript", "TypeScript", "TSX"), _SCRIPTS),
        "Go": _GO,
        "Rust": _RUST,
        "Java": _JAVA,
        **dict.fromkeys(("C", "C++"), _C),
        "C#": _C_SHARP,
        "Ruby": _RUBY,
        "PHP": _PHP,
    }
)
"""By the names of the languages."""
