//! The example provider as a process, and a client that connects to it as Terraform does.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdout, Command};

pub(crate) const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// Says where the plugin puts its socket.
pub(crate) const SOCKET_DIR: &str = "PLUGIN_UNIX_SOCKET_DIR";

/// Nothing in these tests takes this long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The example, built once: `cargo test --test it` does not build examples.
pub(crate) fn echo() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let mut build = std::process::Command::new(env!("CARGO"));
            build.args(["build", "--quiet", "--package", "tfplugin", "--example", "echo"]);
            if !cfg!(debug_assertions) {
                build.arg("--release");
            }
            assert!(build.status().unwrap().success());
            let tests = std::env::current_exe().unwrap();
            tests.parent().unwrap().parent().unwrap().join("examples/echo")
        })
        .clone()
}

/// A client's certificate as go-plugin makes it: P-521, and an authority's by its flags.
pub(crate) struct ClientCertificate {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    pub(crate) pem: String,
}

impl ClientCertificate {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).unwrap();
        let (der, pem) = (certificate.der().clone(), certificate.pem());
        Self { certificate: der, key: key.serialize_der(), pem }
    }
}

/// A plugin that has said where it listens.
pub(crate) struct Plugin {
    pub(crate) child: Child,
    pub(crate) socket: PathBuf,
    /// Its certificate; empty without TLS.
    pub(crate) certificate: Vec<u8>,
    pub(crate) stdout: Lines<BufReader<ChildStdout>>,
    /// Where its socket is, so that a plugin that a test kills leaves nothing behind.
    _dir: tempfile::TempDir,
}

impl Plugin {
    /// Starts the example as Terraform starts a plugin.
    pub(crate) async fn start(client: Option<&ClientCertificate>) -> Self {
        let mut command = Command::new(echo());
        command.env("TF_PLUGIN_MAGIC_COOKIE", COOKIE).env("PLUGIN_PROTOCOL_VERSIONS", "5,6");
        if let Some(client) = client {
            command.env("PLUGIN_CLIENT_CERT", &client.pem);
        }
        Self::handshake(command).await
    }

    /// Starts a command that ends up as a plugin, and waits for its line.
    pub(crate) async fn handshake(mut command: Command) -> Self {
        let dir = tempfile::tempdir().unwrap();
        if !command.as_std().get_envs().any(|(name, _)| name == SOCKET_DIR) {
            command.env(SOCKET_DIR, dir.path());
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = loop {
            let line = tokio::time::timeout(PATIENCE, stdout.next_line()).await.unwrap().unwrap();
            let line = line.expect("the plugin ended before its line");
            if line.starts_with("1|") {
                break line;
            }
        };
        let fields: Vec<&str> = line.split('|').collect();
        let [core, protocol, network, socket, wire, certificate] = fields[..] else {
            panic!("not six fields: {line}")
        };
        assert_eq!((core, protocol, network, wire), ("1", "6", "unix", "grpc"));
        let certificate = STANDARD_NO_PAD.decode(certificate).unwrap();
        Self { child, socket: socket.into(), certificate, stdout, _dir: dir }
    }

    /// Connects with TLS, showing a certificate or none. The plugin's own must be the one it named.
    pub(crate) async fn connect(
        &self,
        shown: Option<&ClientCertificate>,
    ) -> std::io::Result<Connection> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from(self.certificate.clone())).unwrap();
        let crypto = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match shown {
            None => config.with_no_client_auth(),
            Some(shown) => {
                let key = PrivatePkcs8KeyDer::from(shown.key.clone());
                config.with_client_auth_cert(vec![shown.certificate.clone()], key.into()).unwrap()
            }
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        let stream = UnixStream::connect(&self.socket).await?;
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = connector.connect("localhost".try_into().unwrap(), stream).await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        Connection::over(stream).await
    }

    /// Waits until the process has ended by itself.
    pub(crate) async fn ended(&mut self) -> std::process::ExitStatus {
        tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it goes on").unwrap()
    }
}

/// An HTTP/2 connection that speaks as much gRPC as the tests need.
pub(crate) struct Connection(hyper::client::conn::http2::SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> std::io::Result<Self> {
        let handshake =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (sender, connection) = handshake.await.map_err(std::io::Error::other)?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    /// Calls a method with an empty message and returns the bytes of the answer.
    pub(crate) async fn call(&mut self, method: &str) -> std::io::Result<Bytes> {
        let request = http::Request::post(format!("http://localhost/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(Bytes::from_static(&[0; 5])))
            .map_err(std::io::Error::other)?;
        let answer = async {
            let response = self.0.send_request(request).await?;
            let refused = response.headers().get("grpc-status").is_some_and(|code| code != "0");
            let body = response.into_body().collect().await?.to_bytes();
            Ok::<_, hyper::Error>((refused, body))
        };
        let answer = tokio::time::timeout(PATIENCE, answer).await.map_err(std::io::Error::other)?;
        match answer.map_err(std::io::Error::other)? {
            (false, body) => Ok(body),
            (true, _) => Err(std::io::Error::other("the method was refused")),
        }
    }
}
