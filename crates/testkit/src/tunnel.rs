//! A forward proxy, as companies have them between their machines and the world: it answers
//! `CONNECT`, or speaks SOCKS 5, asks for a login if it is told to, and then only carries bytes. What goes through
//! it, it cannot read.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::client::on_runtime;
use crate::control_plane::ControlPlane;
use crate::proxy::identity_of;

/// How the proxy itself is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    Plain,
    /// In TLS, with the certificate of the API server, whose address it shares.
    Tls,
    /// SOCKS 5, which knows no login here.
    Socks,
}

/// Ends, with every connection through it, when dropped.
pub struct Tunnel {
    address: String,
    speech: Speech,
    asked: Arc<Mutex<Vec<String>>>,
    work: AbortHandle,
}

/// More than any request to connect needs.
const LARGEST_HEAD: usize = 16 * 1024;

impl Tunnel {
    /// With `login`, whoever does not show this user and password is turned away.
    pub async fn open(
        control_plane: &ControlPlane,
        speech: Speech,
        login: Option<(&str, &str)>,
    ) -> Result<Self> {
        let tls = match speech {
            Speech::Plain | Speech::Socks => None,
            Speech::Tls => Some(identity_of(control_plane.folder())?),
        };
        let login = login.map(|(user, password)| {
            format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
        });
        let asked = Arc::new(Mutex::new(Vec::new()));
        let desk = Desk { speech, tls, login, asked: Arc::clone(&asked) };
        let (address, work) = on_runtime(async move {
            let listener = TcpListener::bind(("127.0.0.1", 0))
                .await
                .context("no port could be had for the tunnel")?;
            let address = listener.local_addr()?.to_string();
            Ok((address, tokio::spawn(serve(listener, desk)).abort_handle()))
        })
        .await?;
        Ok(Self { address, speech, asked, work })
    }

    /// `host:port`.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn url(&self) -> String {
        let scheme = match self.speech {
            Speech::Plain => "http",
            Speech::Tls => "https",
            Speech::Socks => "socks5h",
        };
        format!("{scheme}://{}", self.address)
    }

    /// Whither connections were asked for, in order, those that were refused included.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.work.abort();
    }
}

#[derive(Clone)]
struct Desk {
    speech: Speech,
    tls: Option<TlsAcceptor>,
    login: Option<String>,
    asked: Arc<Mutex<Vec<String>>>,
}

async fn serve(listener: TcpListener, desk: Desk) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let desk = desk.clone();
                connections.spawn(async move {
                    match &desk.tls {
                        None if desk.speech == Speech::Socks => desk.carry_socks(stream).await,
                        None => desk.carry(stream).await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => desk.carry(stream).await,
                            Err(_) => Ok(()),
                        },
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

impl Desk {
    async fn carry(&self, mut client: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
        let head = head(&mut client).await?;
        let mut lines = head.lines();
        let target = lines
            .next()
            .and_then(|line| line.strip_prefix("CONNECT "))
            .and_then(|rest| rest.split(' ').next())
            .unwrap_or_default()
            .to_owned();
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(target.clone());
        let shown = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("proxy-authorization").then(|| value.trim().to_owned())
        });
        if self.login.is_some() && shown != self.login {
            return client
                .write_all(
                    b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n",
                )
                .await;
        }
        let Ok(mut server) = TcpStream::connect(&target).await else {
            return client
                .write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
                .await;
        };
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        copy_bidirectional(&mut client, &mut server).await.map(drop)
    }
}

/// What goes before every answer of SOCKS 5 to a wish to connect, and the address that follows.
const GRANTED: [u8; 10] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const UNREACHABLE: [u8; 10] = [5, 5, 0, 1, 0, 0, 0, 0, 0, 0];

impl Desk {
    async fn carry_socks(&self, mut client: TcpStream) -> std::io::Result<()> {
        let [_, methods] = read::<2>(&mut client).await?;
        for _ in 0..methods {
            client.read_u8().await?;
        }
        client.write_all(&[5, 0]).await?;
        let [_, _, _, form] = read::<4>(&mut client).await?;
        let host = match form {
            1 => std::net::Ipv4Addr::from(read::<4>(&mut client).await?).to_string(),
            3 => {
                let mut name = vec![0; client.read_u8().await?.into()];
                client.read_exact(&mut name).await?;
                String::from_utf8_lossy(&name).into_owned()
            }
            _ => return Err(std::io::ErrorKind::Unsupported.into()),
        };
        let target = format!("{host}:{}", client.read_u16().await?);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(target.clone());
        let Ok(mut server) = TcpStream::connect(&target).await else {
            return client.write_all(&UNREACHABLE).await;
        };
        client.write_all(&GRANTED).await?;
        copy_bidirectional(&mut client, &mut server).await.map(drop)
    }
}

async fn read<const N: usize>(client: &mut TcpStream) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// All up to the empty line, byte by byte: what follows it is not ours.
async fn head(client: &mut (impl AsyncRead + Unpin)) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < LARGEST_HEAD {
        head.push(client.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
