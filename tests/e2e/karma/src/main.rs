//! Reads every table of a catalog as Karma does: with its URI, its warehouse and a token, and whatever keys to the
//! object store the catalog hands out. Prints one line for each table, the rows as JSON:
//!
//!     {"table":"main.default.t000","rows":[{"id":1}]}

use std::{collections::HashMap, env, sync::Arc};

use arrow_json::ArrayWriter;
use futures::TryStreamExt;
use iceberg::{Catalog, CatalogBuilder, NamespaceIdent, Result, TableIdent};
use iceberg_catalog_rest::{RestCatalog, RestCatalogBuilder};
use iceberg_storage_opendal::OpenDalStorageFactory;
use serde_json::{Value, from_slice, json};

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

async fn connect() -> Result<RestCatalog> {
    let properties = HashMap::from([
        ("uri".to_string(), setting("LAKEHOUSE_REST_URI")),
        ("warehouse".to_string(), setting("LAKEHOUSE_REST_WAREHOUSE")),
        ("token".to_string(), setting("LAKEHOUSE_CATALOG_TOKEN")),
    ]);
    let storage = OpenDalStorageFactory::S3 { customized_credential_load: None };
    RestCatalogBuilder::default().with_storage_factory(Arc::new(storage)).load("lakehouse", properties).await
}

async fn tables(catalog: &RestCatalog) -> Result<Vec<TableIdent>> {
    let mut found = Vec::new();
    let mut namespaces: Vec<NamespaceIdent> = catalog.list_namespaces(None).await?;
    while let Some(namespace) = namespaces.pop() {
        found.extend(catalog.list_tables(&namespace).await?);
        namespaces.extend(catalog.list_namespaces(Some(&namespace)).await?);
    }
    Ok(found)
}

async fn rows(catalog: &RestCatalog, table: &TableIdent) -> Result<Value> {
    let batches: Vec<_> = catalog.load_table(table).await?.scan().build()?.to_arrow().await?.try_collect().await?;
    let mut writer = ArrayWriter::new(Vec::new());
    for batch in &batches {
        writer.write(batch).expect("rows have a form in JSON");
    }
    writer.finish().expect("memory takes what is written");
    Ok(from_slice(&writer.into_inner()).expect("the writer writes JSON"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let catalog = connect().await?;
    for table in tables(&catalog).await? {
        let rows = rows(&catalog, &table).await?;
        let namespace = table.namespace().clone().inner().join(".");
        println!("{}", json!({"table": format!("{namespace}.{}", table.name()), "rows": rows}));
    }
    Ok(())
}
