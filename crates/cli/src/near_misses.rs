//! The commands that people type by the names of other programs.

/// Other names, and the command that is meant.
pub(crate) const NEAR_MISSES: &[(&str, &str)] = &[
    ("append", "add"),
    ("cat", "get"),
    ("cluster", "clusters"),
    ("copy", "backup"),
    ("count", "info"),
    ("dedupe", "dedup"),
    ("deduplicate", "dedup"),
    ("del", "remove"),
    ("delete", "remove"),
    ("decontaminate", "screen"),
    ("describe", "info"),
    ("diff", "compare"),
    ("drop", "remove"),
    ("dump", "export"),
    ("dupes", "pairs"),
    ("duplicates", "pairs"),
    ("find", "query"),
    ("filter", "screen"),
    ("feed", "changes"),
    ("follow", "changes"),
    ("fsck", "check"),
    ("group", "clusters"),
    ("groups", "clusters"),
    ("ids", "list"),
    ("index", "add"),
    ("ingest", "add"),
    ("init", "create"),
    ("insert", "add"),
    ("join", "merge"),
    ("load", "import"),
    ("log", "changes"),
    ("lookup", "query"),
    ("ls", "list"),
    ("migrate", "rebuild"),
    ("new", "create"),
    ("optimize", "compact"),
    ("print", "get"),
    ("plagiarism", "passages"),
    ("put", "add"),
    ("read", "get"),
    ("reindex", "rebuild"),
    ("repair", "check"),
    ("repeats", "passages"),
    ("restore", "backup"),
    ("rm", "remove"),
    ("scan", "query"),
    ("search", "query"),
    ("show", "get"),
    ("similar", "query"),
    ("similarity", "compare"),
    ("stat", "info"),
    ("stats", "info"),
    ("status", "info"),
    ("uniq", "dedup"),
    ("update", "add"),
    ("upsert", "add"),
    ("vacuum", "compact"),
    ("validate", "check"),
    ("verify", "check"),
    ("view", "get"),
    ("why", "explain"),
];

#[cfg(test)]
mod tests {
    use super::NEAR_MISSES;
    use crate::args::Args;
    use clap::CommandFactory;

    #[test]
    fn other_names_of_commands_lead_to_commands() {
        let command = Args::command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        for (typed, meant) in NEAR_MISSES {
            assert!(!names.contains(typed), "{typed} is a command");
            assert!(names.contains(meant), "{meant} is no command");
        }
    }
}
