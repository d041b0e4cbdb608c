//! The columns that a query may name, and what they are of.

/// What a column is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Entity {
    Collection,
    Object,
    CollectionAvu,
    ObjectAvu,
    CollectionAccess,
    ObjectAccess,
    User,
    UserAvu,
    Resource,
    ResourceAvu,
    Ticket,
    Zone,
    Rule,
    Token,
}

/// How values compare and sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Integer,
}

macro_rules! columns {
    ($($name:ident $column:ident $entity:ident $type:ident;)*) => {
        /// A column.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(super) enum Column { $($column),* }

        impl Column {
            /// The column of a name, in whatever case.
            pub(super) fn named(name: &str) -> Option<Self> {
                let name = name.to_ascii_uppercase();
                match name.as_str() {
                    $(stringify!($name) => Some(Self::$column),)*
                    name => Self::renamed(name),
                }
            }

            /// The name by which GenQuery 1 knows it.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$column => stringify!($name)),* }
            }

            /// Every column there is.
            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$column),*];

            pub(super) fn entity(self) -> Entity {
                match self { $(Self::$column => Entity::$entity),* }
            }

            pub(super) fn r#type(self) -> Type {
                match self { $(Self::$column => Type::$type),* }
            }
        }
    };
}

columns! {
    COLL_ID CollId Collection Integer;
    COLL_NAME CollName Collection Text;
    COLL_PARENT_NAME CollParentName Collection Text;
    COLL_OWNER_NAME CollOwnerName Collection Text;
    COLL_OWNER_ZONE CollOwnerZone Collection Text;
    COLL_INHERITANCE CollInheritance Collection Text;
    COLL_CREATE_TIME CollCreateTime Collection Text;
    COLL_MODIFY_TIME CollModifyTime Collection Text;
    DATA_ID DataId Object Integer;
    DATA_COLL_ID DataCollId Object Integer;
    DATA_NAME DataName Object Text;
    DATA_REPL_NUM DataReplNum Object Integer;
    DATA_REPL_STATUS DataReplStatus Object Text;
    DATA_TYPE_NAME DataTypeName Object Text;
    DATA_SIZE DataSize Object Integer;
    DATA_PATH DataPath Object Text;
    DATA_RESC_NAME DataRescName Object Text;
    DATA_RESC_HIER DataRescHier Object Text;
    DATA_CHECKSUM DataChecksum Object Text;
    DATA_OWNER_NAME DataOwnerName Object Text;
    DATA_OWNER_ZONE DataOwnerZone Object Text;
    DATA_CREATE_TIME DataCreateTime Object Text;
    DATA_MODIFY_TIME DataModifyTime Object Text;
    DATA_ACCESS_TIME DataAccessTime Object Text;
    DATA_COMMENTS DataComments Object Text;
    DATA_EXPIRY DataExpiry Object Text;
    DATA_MODE DataMode Object Text;
    DATA_STATUS DataStatus Object Text;
    DATA_VERSION DataVersion Object Text;
    META_COLL_ATTR_NAME MetaCollName CollectionAvu Text;
    META_COLL_ATTR_VALUE MetaCollValue CollectionAvu Text;
    META_COLL_ATTR_UNITS MetaCollUnits CollectionAvu Text;
    META_DATA_ATTR_NAME MetaDataName ObjectAvu Text;
    META_DATA_ATTR_VALUE MetaDataValue ObjectAvu Text;
    META_DATA_ATTR_UNITS MetaDataUnits ObjectAvu Text;
    META_USER_ATTR_NAME MetaUserName UserAvu Text;
    META_USER_ATTR_VALUE MetaUserValue UserAvu Text;
    META_USER_ATTR_UNITS MetaUserUnits UserAvu Text;
    META_RESC_ATTR_NAME MetaRescName ResourceAvu Text;
    META_RESC_ATTR_VALUE MetaRescValue ResourceAvu Text;
    META_RESC_ATTR_UNITS MetaRescUnits ResourceAvu Text;
    COLL_ACCESS_TYPE CollAccessType CollectionAccess Integer;
    COLL_ACCESS_NAME CollAccessName CollectionAccess Text;
    COLL_TOKEN_NAMESPACE CollTokenNamespace CollectionAccess Text;
    COLL_ACCESS_COLL_ID CollAccessCollId CollectionAccess Integer;
    COLL_ACCESS_USER_ID CollAccessUserId CollectionAccess Integer;
    COLL_ACCESS_USER_NAME CollAccessUserName CollectionAccess Text;
    COLL_ACCESS_USER_TYPE CollAccessUserType CollectionAccess Text;
    COLL_ACCESS_USER_ZONE CollAccessUserZone CollectionAccess Text;
    DATA_ACCESS_TYPE DataAccessType ObjectAccess Integer;
    DATA_ACCESS_NAME DataAccessName ObjectAccess Text;
    DATA_TOKEN_NAMESPACE DataTokenNamespace ObjectAccess Text;
    DATA_ACCESS_DATA_ID DataAccessDataId ObjectAccess Integer;
    DATA_ACCESS_USER_ID DataAccessUserId ObjectAccess Integer;
    DATA_ACCESS_USER_NAME DataAccessUserName ObjectAccess Text;
    DATA_ACCESS_USER_TYPE DataAccessUserType ObjectAccess Text;
    DATA_ACCESS_USER_ZONE DataAccessUserZone ObjectAccess Text;
    USER_ID UserId User Integer;
    USER_NAME UserName User Text;
    USER_TYPE UserType User Text;
    USER_ZONE UserZone User Text;
    USER_CREATE_TIME UserCreateTime User Text;
    RESC_ID RescId Resource Integer;
    RESC_NAME RescName Resource Text;
    RESC_TYPE_NAME RescTypeName Resource Text;
    RESC_ZONE_NAME RescZoneName Resource Text;
    RESC_LOC RescLocation Resource Text;
    RESC_VAULT_PATH RescVaultPath Resource Text;
    RESC_STATUS RescStatus Resource Text;
    RESC_CONTEXT RescContext Resource Text;
    RESC_COMMENT RescComment Resource Text;
    RESC_INFO RescInformation Resource Text;
    RESC_FREE_SPACE RescFreeSpace Resource Text;
    RESC_PARENT RescParent Resource Text;
    RESC_CREATE_TIME RescCreateTime Resource Text;
    RESC_MODIFY_TIME RescModifyTime Resource Text;
    TICKET_STRING TicketString Ticket Text;
    TICKET_TYPE TicketType Ticket Text;
    TICKET_DATA_NAME TicketDataName Ticket Text;
    TICKET_COLL_NAME TicketCollName Ticket Text;
    TICKET_USES_LIMIT TicketUsesLimit Ticket Integer;
    TICKET_USES_COUNT TicketUsesCount Ticket Integer;
    TICKET_EXPIRY TicketExpiry Ticket Text;
    TICKET_ALLOWED_USER_NAME TicketAllowedUser Ticket Text;
    TICKET_ALLOWED_GROUP_NAME TicketAllowedGroup Ticket Text;
    TICKET_ALLOWED_HOST TicketAllowedHost Ticket Text;
    ZONE_NAME ZoneName Zone Text;
    ZONE_TYPE ZoneType Zone Text;
    ZONE_CONNECTION ZoneConnection Zone Text;
    ZONE_COMMENT ZoneComment Zone Text;
    RULE_EXEC_ID RuleExecId Rule Integer;
    RULE_EXEC_NAME RuleExecName Rule Text;
    RULE_EXEC_USER_NAME RuleExecUser Rule Text;
    RULE_EXEC_TIME RuleExecTime Rule Text;
    TOKEN_NAMESPACE TokenNamespace Token Text;
    TOKEN_ID TokenId Token Integer;
    TOKEN_NAME TokenName Token Text;
}

impl Column {
    /// Whether it is of where an object is, and not of the object.
    pub(super) fn is_of_place(self) -> bool {
        matches!(self, Self::DataPath | Self::DataRescName | Self::DataRescHier)
            || matches!(self.entity(), Entity::Resource | Entity::ResourceAvu)
    }

    /// Columns that have another name in GenQuery 2.
    fn renamed(name: &str) -> Option<Self> {
        Some(match name {
            "COLL_ACCESS_PERM_ID" => Self::CollAccessType,
            "COLL_ACCESS_PERM_NAME" => Self::CollAccessName,
            "DATA_ACCESS_PERM_ID" => Self::DataAccessType,
            "DATA_ACCESS_PERM_NAME" => Self::DataAccessName,
            "RESC_HOSTNAME" => Self::RescLocation,
            "DELAY_RULE_ID" => Self::RuleExecId,
            "DELAY_RULE_NAME" => Self::RuleExecName,
            "DELAY_RULE_USER_NAME" => Self::RuleExecUser,
            "DELAY_RULE_EXE_TIME" => Self::RuleExecTime,
            _ => return None,
        })
    }
}
