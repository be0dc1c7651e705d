// Where libwhocall lies: WHOCALL_LIB_DIR, else where the linker looks by itself.
fn main() {
    println!("cargo:rerun-if-env-changed=WHOCALL_LIB_DIR");
    if let Ok(folder) = std::env::var("WHOCALL_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
    }
}
