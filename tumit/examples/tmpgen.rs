use tumit::codegen::{Backend, Options, c::{C, CReader}};
fn main(){ let p=std::env::args().nth(1).unwrap(); let out=std::env::args().nth(2).unwrap(); let t=std::fs::read_to_string(&p).unwrap(); let (s,d)=tumit::compile_text("spec.tumit",&t); let s=s.unwrap_or_else(||panic!("{}",d.render(false)));
 for b in [&C as &dyn Backend,&CReader]{ for f in b.generate(&s,&Options::default()).unwrap().0 { std::fs::write(format!("{out}/{}",f.name),f.text).unwrap(); } } }
