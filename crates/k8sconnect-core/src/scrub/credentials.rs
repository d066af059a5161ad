//! The words of a stranger without what looks like a credential.
//!
//! What a command complains of is worth showing, and nobody knows what it puts into it: some print
//! the token that was refused, or the whole request. There is nothing to compare with, so shape and
//! surroundings decide. It cuts rather too much than too little; what it cannot know is a secret
//! that looks like any other word and stands beside nothing that calls it one.

use serde_json::Value;

use super::forms::forms_of;

const CUT: &str = "(hidden)";

/// What stands after these is hidden, whatever it looks like.
const SECRETS: [&str; 7] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secret_key",
    "secret_access_key",
    "private_key",
];
/// What stands after these is hidden unless it looks like a word: `token: expired` says something.
const TOKENS: [&str; 8] = [
    "token",
    "assertion",
    "api_key",
    "apikey",
    "access_key",
    "credential",
    // Whoever has the signature of an address may go there.
    "signature",
    "sig",
];
/// As they stand in an `Authorization` header.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// No word, name or number is so long.
const LONG: usize = 40;

/// Shorter ones would shred the words, and are no secrets.
const SHORTEST: usize = 8;

/// The same words with all that looks like a credential replaced.
pub fn without_credentials(words: &str) -> String {
    without_these(words, [])
}

/// The same, and without these, in every form that they may have there.
pub fn without_these<'a>(words: &str, secrets: impl IntoIterator<Item = &'a str>) -> String {
    let forms = secrets.into_iter().flat_map(|secret| forms_of(&Value::from(secret)));
    let mut forms: Vec<_> = forms.filter(|form| form.trim().len() >= SHORTEST).collect();
    // The longest first, so that no part of one is left standing.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    let mut words = without_pem(words);
    for form in forms {
        words = words.replace(&form, CUT);
    }
    let mut shown = String::new();
    let mut rest = words.as_str();
    while let Some(first) = rest.chars().next() {
        let end = match is_opaque(first) {
            true => rest.find(|c| !is_opaque(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (run, after) = rest.split_at(end);
        let hidden = is_opaque(first) && is_credential(&shown, run, after);
        shown.push_str(if hidden { CUT } else { run });
        rest = after;
    }
    shown
}

/// A key is hidden from its first to its last line, however short that is. One that has no end is
/// cut off, and goes on to the end of the words.
fn without_pem(words: &str) -> String {
    const DASHES: &str = "-----";
    let mut shown = String::new();
    let mut rest = words;
    while let Some((before, body)) = rest.split_once("-----BEGIN") {
        shown.push_str(before);
        shown.push_str(CUT);
        let after = body.split_once("-----END").and_then(|(_, end)| end.split_once(DASHES));
        rest = after.map_or("", |(_, after)| after);
    }
    shown + rest
}

/// Whether a token may hold it.
fn is_opaque(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.~+/%".contains(c)
}

fn is_credential(before: &str, run: &str, after: &str) -> bool {
    let run = run.trim_end_matches(['.', '/']);
    if is_token_by_itself(before, run) {
        return true;
    }
    // The password in a URL.
    if after.starts_with('@') && before.ends_with(':') {
        return true;
    }
    match label(before) {
        Some(label) if is_one_of(&label, &SECRETS) => true,
        Some(label) if is_one_of(&label, &TOKENS) => !looks_like_a_word(run),
        Some(label) => SCHEMES.contains(&label.as_str()) && !looks_like_a_word(run),
        None => false,
    }
}

/// A token in base64 of JSON, as a JWT is, or a long text of everything.
fn is_token_by_itself(before: &str, run: &str) -> bool {
    let is_path = run.starts_with(['/', '.', '~']) || before.ends_with("://");
    let has = |kind: fn(&char) -> bool| run.chars().any(|c| kind(&c));
    let mixed =
        has(char::is_ascii_digit) && has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase);
    (run.contains("eyJ") && run.len() >= 16) || (run.len() >= LONG && mixed && !is_path)
}

/// What calls the next word something: `token: …`, `"token":"…"`, `token=…`, `--token …`,
/// `Bearer …`. In small letters, with `_` for `-`.
fn label(before: &str) -> Option<String> {
    let quotes = |c: char| c.is_whitespace() || "\"'`\\".contains(c);
    let bare = before.trim_end_matches(quotes);
    let (named, marked) = match bare.strip_suffix([':', '=']) {
        Some(named) => (named.trim_end_matches(quotes), true),
        None => (bare, false),
    };
    let start = named.rfind(|c: char| !(c.is_ascii_alphanumeric() || "-_".contains(c)));
    let word =
        &named[start.map_or(0, |at| at + named[at..].chars().next().map_or(1, char::len_utf8))..];
    let name = word.trim_start_matches('-').to_ascii_lowercase().replace('-', "_");
    let calls = marked || word.starts_with("--") || SCHEMES.contains(&name.as_str());
    (calls && bare.len() < before.len() || marked).then_some(name)
}

fn is_one_of(label: &str, names: &[&str]) -> bool {
    names.iter().any(|name| label.ends_with(name))
}

fn looks_like_a_word(run: &str) -> bool {
    run.len() < 16 && !run.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl";

    #[test]
    fn tokens_go_wherever_they_stand() {
        for (said, shown) in [
            (format!("refused: {JWT}, log in"), "refused: (hidden), log in"),
            ("Authorization: Bearer abc123".to_owned(), "Authorization: Bearer (hidden)"),
            ("authorization: basic bWU6cHc5".to_owned(), "authorization: basic (hidden)"),
            (r#"{"token":"s3cret","kind":"x"}"#.to_owned(), r#"{"token":"(hidden)","kind":"x"}"#),
            ("access_token=abcd1234&x=y".to_owned(), "access_token=(hidden)&x=y"),
            ("login --token 9f86d081 failed".to_owned(), "login --token (hidden) failed"),
            ("client-secret: hunter".to_owned(), "client-secret: (hidden)"),
            ("password='correct horse'".to_owned(), "password='(hidden) horse'"),
            ("at https://me:hunter@sts.example".to_owned(), "at https://me:(hidden)@sts.example"),
            (
                format!("GET https://x/y?se=2026&sig={}&sr=b", "9f86d081".repeat(5)),
                "GET https://x/y?se=2026&sig=(hidden)&sr=b",
            ),
            (
                "X-Amz-Signature=9f86d081884c7d65&X-Amz-Date=20261116".to_owned(),
                "X-Amz-Signature=(hidden)&X-Amz-Date=20261116",
            ),
            (
                "key: -----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\nab==\n-----END EC PRIVATE KEY-----\nno"
                    .to_owned(),
                "key: (hidden)\nno",
            ),
            ("key: -----BEGIN PRIVATE KEY-----\nMHcCAQEE\nab".to_owned(), "key: (hidden)"),
            (
                "got k8s-aws-v1.aHR0cHM6Ly9zdHMuYW1hem9uYXdzLmNvbS8_QWN0aW9u back".to_owned(),
                "got (hidden) back",
            ),
        ] {
            assert_eq!(without_credentials(&said), shown);
        }
    }

    #[test]
    fn what_is_known_to_be_secret_goes_in_every_form() {
        use base64::Engine;
        let secret = "correct horse?";
        let packed = base64::engine::general_purpose::STANDARD.encode(secret);
        for form in [secret, packed.as_str(), packed.trim_end_matches('='), "correct%20horse%3F"] {
            let said = format!("no: {form} is not accepted");
            assert_eq!(without_these(&said, [secret]), "no: (hidden) is not accepted");
        }
        assert_eq!(without_these("a short word", ["short"]), "a short word");
    }

    #[test]
    fn what_explains_a_failure_stays() {
        for said in [
            "Error loading SSO Token: Token for default does not exist",
            "oauth2: \"invalid_grant\" token: expired; run `gcloud auth login`",
            "could not get token: AccessDenied: not authorized to perform sts:AssumeRole",
            "An error occurred (ExpiredToken) when calling GetCallerIdentity",
            "open /home/Somebody/.kube/cache/oidc-login/2f3a5b7c9d1e: no such file",
            "request id 6c9f1c1e-5a35-4a7e-9d55-0c5a1e2d3f4b",
            "login of näve has expired — run it",
        ] {
            assert_eq!(without_credentials(said), said);
        }
    }
}
